"""Which questions of a diagnosis a list shows: all, those that failed, or one store's outcome."""

from collections.abc import Mapping
from dataclasses import dataclass

from memaudit.downstream.outcomes import Outcome
from memaudit.web.explorer.library.diagnosed import Diagnosed, Question
from memaudit.web.explorer.slugs import slug

ALL, FAILURES = "all", "failures"
"""Names in addresses; those of other choices end in a hash, so none is called so."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice by its name in addresses; without a store it is about all of them together."""

    slug: str
    title: str
    store: str | None = None
    outcome: Outcome | None = None

    def takes(self, question: Question) -> bool:
        """Whether a question is in the list."""
        if self.slug == ALL:
            return True
        rows = [row for row in question.rows if self.store is None or row.store == self.store]
        if self.outcome is not None:
            return any(row.outcome is self.outcome for row in rows)
        return any(row.failed for row in rows)


def choices(diagnosed: Diagnosed) -> Mapping[str, Choice]:
    """Every list there is; outcomes that no question of a store has make none."""
    found = [
        Choice(ALL, "all questions"),
        Choice(FAILURES, "not answered right by some store"),
    ]
    seen = {(row.store, row.outcome) for row in diagnosed.rows}
    for store in diagnosed.stores:
        found.append(Choice(failures_slug(store), f"not answered right by {store}", store))
        found += (
            Choice(outcome_slug(store, outcome), f"{in_words(outcome)} at {store}", store, outcome)
            for outcome in Outcome
            if (store, outcome) in seen
        )
    return {one.slug: one for one in found}


def failures_slug(store: str) -> str:
    """The list of what one store did not answer right."""
    return slug(store, FAILURES)


def outcome_slug(store: str, outcome: Outcome) -> str:
    """The list of one outcome at one store."""
    return slug(store, outcome.value)


def in_words(name: str) -> str:
    """A name of an outcome, a stage or a remark as words."""
    return str(name).replace("_", " ")


def chosen(diagnosed: Diagnosed, choice: Choice) -> list[Question]:
    """The questions of a list, in the order of the rows."""
    return [question for question in diagnosed.questions.values() if choice.takes(question)]

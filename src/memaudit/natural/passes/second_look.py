"""A second look at finished packages by another model: examples adjudicated again, and causes.

Both read packages alone, so they work for packages of any origin: built by a model, by hand, or
converted. Nothing in a package is changed.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memaudit.core.package import Package, Query
from memaudit.core.unit_parts import whole_units
from memaudit.datasets.conversation import Question
from memaudit.models.prompt import StrictRow
from memaudit.models.session import ModelSession
from memaudit.natural.passes.adjudication import (
    ACCEPTED,
    AMBIGUOUS,
    CORRECTED,
    FAILED,
    REJECTED,
    RequirementProposal,
    adjudicate,
)
from memaudit.natural.passes.requirements import Requirement, ShownUnit, question_data
from memaudit.natural.prompts import pass_prompt, pass_request

EXAMPLES = 30
"""As many as in the paper's spot check."""

DISPUTED = "disputed"
STATUSES = (ACCEPTED, CORRECTED, DISPUTED, FAILED)
AGAIN_STAGE, CAUSES_STAGE = "examples again", "causes"


@dataclass(frozen=True, slots=True)
class SecondVerdict:
    """What another model says of a question and the units it requires."""

    package: str
    question: str
    text: str
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExampleCheck:
    """Some packages adjudicated again, question by question."""

    model: str
    packages: tuple[str, ...]
    verdicts: tuple[SecondVerdict, ...]

    @property
    def statuses(self) -> dict[str, int]:
        """How many packages came out how: disputed if one of their questions is."""
        by_package: dict[str, set[str]] = {name: set() for name in self.packages}
        for row in self.verdicts:
            by_package[row.package].add(row.verdict)
        counts = Counter(map(_status, by_package.values()))
        return {status: counts[status] for status in STATUSES}

    @property
    def disagreements(self) -> list[SecondVerdict]:
        return [row for row in self.verdicts if row.verdict != ACCEPTED]


def _status(verdicts: set[str]) -> str:
    if verdicts & {AMBIGUOUS, REJECTED}:
        return DISPUTED
    return next((status for status in (FAILED, CORRECTED) if status in verdicts), ACCEPTED)


def check_examples(
    packages: Sequence[Package],
    session: ModelSession,
    model: str,
    examples: int = EXAMPLES,
    seed: int = 0,
) -> ExampleCheck:
    """Have another model adjudicate some packages, chosen by a hash of their names and the seed."""
    counting = [package for package in packages if any(map(_counts, package.queries))]
    chosen = sorted(counting, key=lambda package: _rank(seed, package.name))[:examples]
    proposals: dict[tuple[str, str], RequirementProposal] = {}
    for package in sorted(chosen, key=lambda package: package.name):
        for query in filter(_counts, package.queries):
            proposals[package.name, query.id] = _proposal(package, query)
    verdicts = adjudicate(proposals, session, model, stage=AGAIN_STAGE)
    return ExampleCheck(
        model,
        tuple(sorted(package.name for package in chosen)),
        tuple(
            SecondVerdict(
                name,
                question,
                proposals[name, question].question.text,
                FAILED if found is None else found.name,
                "" if found is None else found.reason,
            )
            for (name, question), found in verdicts.items()
        ),
    )


def _rank(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()


def _counts(query: Query) -> bool:
    """Whether a question counts in scores and requires something."""
    return bool(query.required) and query.importance > 0


def _proposal(package: Package, query: Query) -> RequirementProposal:
    """A query of a package as the adjudicator checks it."""
    shown, number_of = _shown(package)
    numbers = dict.fromkeys(number_of[unit] for unit in query.required)
    requirement = Requirement("supported", tuple((number, "") for number in numbers), "")
    return RequirementProposal(_question(query), requirement, shown)


def _shown(package: Package) -> tuple[list[ShownUnit], dict[str, int]]:
    """The statements of a package, and by unit the number of its statement."""
    shown: list[ShownUnit] = []
    number_of: dict[str, int] = {}
    for number, whole in enumerate(whole_units(package.units), start=1):
        first = whole.units[0]
        quote = next((source.text for source in first.sources if source.text), "")
        shown.append(ShownUnit(number, first.kind, first.timestamp, whole.text, quote or "", 0))
        number_of.update(dict.fromkeys((unit.id for unit in whole.units), number))
    return shown, number_of


def _question(query: Query) -> Question:
    return Question(query.id, query.text, query.answer, query.kind or "question")


Cause = Literal[
    "too_broad",
    "implied_by_summary",
    "coarse_relation",
    "ordering",
    "paraphrase",
    "not_in_source",
    "other",
]
CAUSES: Mapping[Cause, str] = {
    "too_broad": "requirements that are too broad or can be cut in several ways",
    "implied_by_summary": "implied by a summary, not said",
    "coarse_relation": "a relation that is too coarse",
    "ordering": "depends on the order of statements",
    "paraphrase": "whether a paraphrase says the same",
    "not_in_source": "not in the statements",
    "other": "other",
}


# The names and docstrings of reply types are part of every request's hash.
class CauseReply(StrictRow):
    """The reply of this pass."""

    cause: Cause
    reason: str


def find_causes(
    packages: Sequence[Package], session: ModelSession, model: str
) -> dict[tuple[str, str], CauseReply | None]:
    """By package and question, why it is ambiguous or rejected; None where no reply was valid."""
    work = [
        (package, query)
        for package in packages
        for query in package.queries
        if query.attributes.get("status") in (AMBIGUOUS, REJECTED)
    ]
    requests = []
    for package, query in work:
        shown, number_of = _shown(package)
        required = sorted({number_of[unit] for unit in query.required})
        verdict = {name: str(query.attributes.get(name) or "") for name in ("status", "reason")}
        request = pass_request(
            pass_prompt(CAUSES_STAGE),
            CauseReply,
            model,
            session.parameters,
            question=question_data(_question(query)),
            units=[unit.brief() for unit in shown],
            required=list(required),
            verdict=dict(verdict),
        )
        requests.append((package.name, request))
    replies = session.ask(CAUSES_STAGE, requests, CauseReply)
    return {
        (package.name, query.id): reply
        for (package, query), reply in zip(work, replies, strict=True)
    }

"""A diagnosis: outcomes by store, lists of questions, and the evidence chain of one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from memaudit.downstream.examine import WHY
from memaudit.downstream.outcomes import LOSSES, Layer, Losses, Outcome, losses
from memaudit.web.explorer import addresses
from memaudit.web.explorer.addresses import slug
from memaudit.web.explorer.library.diagnosis_folder import Diagnosed, Question, Row
from memaudit.web.explorer.library.entries import Found
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.package_links import Links, package_links
from memaudit.web.explorer.views.paging import others, turned
from memaudit.web.explorer.views.waterfall import Bar, waterfall

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site


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


ABOUT = {
    Layer.WRITE: "the evidence was never written, or did not fit the budget",
    Layer.RETRIEVAL: "it was kept, and the retriever did not find it",
    Layer.READER: "it was retrieved, and the reader answered wrongly or not at all",
    Layer.LUCK: "a right answer without the evidence: luck",
    Layer.UNCERTAIN: "no evidence is named, or words cannot tell if the answer is right",
}


@dataclass(frozen=True, slots=True)
class StoreLosses:
    """What became of the questions at one store; the bars go from all of them to the answered."""

    store: str
    found: Losses
    bars: tuple[Bar, ...]


def store_losses(diagnosed: Diagnosed) -> list[StoreLosses]:
    """Every store, in the order of the spec."""
    by_store: dict[str, list[Row]] = {name: [] for name in diagnosed.stores}
    for row in diagnosed.rows:
        by_store[row.store].append(row)
    return [_store(name, rows) for name, rows in by_store.items()]


def _store(name: str, rows: list[Row]) -> StoreLosses:
    found = losses((row.outcome, row.layer) for row in rows)
    bars = waterfall(
        ("all questions", "", float(found.questions)),
        [(layer.value, ABOUT[layer], found.losses[layer], float(found.layers[layer]))
         for layer in LOSSES],
        ("answered", "right, with the evidence", float(found.layers[Layer.NONE])),
    )  # fmt: skip
    return StoreLosses(name, found, bars)


def by_kind(diagnosed: Diagnosed) -> dict[str, dict[str, tuple[int, int]]]:
    """By kind of question and store: how many were answered, of how many."""
    asked: Counter[tuple[str, str]] = Counter()
    answered: Counter[tuple[str, str]] = Counter()
    for row in diagnosed.rows:
        asked[row.kind, row.store] += 1
        answered[row.kind, row.store] += not row.failed
    return {
        kind: {
            store: (answered[kind, store], asked[kind, store]) for store in diagnosed.stores
        }
        for kind in sorted({row.kind for row in diagnosed.rows})
    }  # fmt: skip


def remarks(diagnosed: Diagnosed) -> dict[str, dict[str, int]]:
    """By remark and store, how many rows carry it."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in diagnosed.rows:
        counts.update((why, row.store) for why in row.why)
    return {
        why: {store: counts[why, store] for store in diagnosed.stores}
        for why in sorted({why for why, _ in counts})
    }


def share(part: int, whole: int) -> float | None:
    """A part of a whole; None of nothing."""
    return float(Fraction(part, whole)) if whole else None


DIAGNOSIS_PATTERN = "diagnosis/{diagnosis}/index.html"
SETTINGS = ("budget", "retriever", "k", "reader", "policy", "judge", "seed")
MOST_DIFFERENCES, MOST_FALLS = 300, 8
"""Longer tables are cut, and say so."""


def diagnosis_crumbs(found: Found, inside: bool = True) -> tuple[tuple[str, str], ...]:
    """The way back."""
    top = ("Diagnoses", addresses.INDEX + "#diagnoses")
    return (top, (found.name, addresses.diagnosis(found.slug))) if inside else (top,)


def render_diagnosis(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    found = site.library.named("diagnosis", parts["diagnosis"])
    diagnosed = site.library.diagnosis(found)
    return site.render(
        "diagnosis.html", addresses.diagnosis(found.slug), found.name,
        crumbs=diagnosis_crumbs(found, False), found=found, diagnosed=diagnosed,
        cut=site.library.without_paths(diagnosed.cut), losses=store_losses(diagnosed),
        outcomes=list(Outcome), layers=list(Layer),
        choices=choices(diagnosed), outcome_slug=outcome_slug, failures_slug=failures_slug,
        in_words=in_words, kinds=by_kind(diagnosed), remarks=remarks(diagnosed), why=WHY,
        share_of=share, settings=_settings(diagnosed), most=MOST_DIFFERENCES,
        most_falls=MOST_FALLS, stores_here=stores_here(site),
    )  # fmt: skip


def stores_here(site: "Site") -> dict[str, str]:
    """Pages of exported stores, by their names."""
    return {one.name: addresses.store(one.slug) for one in reversed(site.library.of("store"))}


def _settings(diagnosed: Diagnosed) -> list[tuple[str, str]]:
    """What the spec says, as far as it does."""
    return [(name, said) for name in SETTINGS if (said := diagnosed.said(name))]


DIAGNOSIS_PAGE = Page(DIAGNOSIS_PATTERN, render_diagnosis, "diagnosis")


QUESTION_PATTERN = "diagnosis/{diagnosis}/question/{question}.html"
MOST_MEMORIES = 100
"""Memories that cover a unit, and memories retrieved; more are counted."""


def render_question(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    found = site.library.named("diagnosis", parts["diagnosis"])
    diagnosed = site.library.diagnosis(found)
    names = list(diagnosed.questions)
    if parts["question"] not in diagnosed.questions:
        raise NotHere("the diagnosis has no such question")
    question = diagnosed.questions[parts["question"]]
    at = diagnosed.place_of[question.slug]
    links = package_links(
        site.library, question.first.package, diagnosed.digest_of(question.first.package)
    )
    return site.render(
        "question.html", addresses.question(found.slug, question.slug),
        question.first.question or question.first.query, crumbs=diagnosis_crumbs(found),
        found=found,
        question=question, links=links, number=at + 1, count=len(names), why=WHY,
        in_words=in_words, most=MOST_MEMORIES, stores_here=stores_here(site),
        candidates={row.store: _candidates(row, links) for row in question.rows},
        before=addresses.question(found.slug, names[at - 1]) if at else None,
        after=addresses.question(found.slug, names[at + 1]) if at + 1 < len(names) else None,
    )  # fmt: skip


def _candidates(row: Row, links: Links) -> dict[str, str]:
    """Where memories stand in the stream, if they are candidates of the package, word for word."""
    if links.opened is None:
        return {}
    found = {}
    for id, text in row.texts.items():
        address = links.candidate(id)
        if address is not None and links.opened.package.candidate[id].text == text:
            found[id] = address
    return found


def inside_question(site: "Site", parts: Parts) -> Iterable[Parts]:
    """A page for every question."""
    diagnosed = site.library.diagnosis(site.library.named("diagnosis", parts["diagnosis"]))
    return [{**parts, "question": name} for name in diagnosed.questions]


QUESTION_PAGE = Page(QUESTION_PATTERN, render_question, "diagnosis", inside_question)


QUESTIONS_PATTERN = "diagnosis/{diagnosis}/{chosen}/index.html"
MORE = "diagnosis/{diagnosis}/{chosen}/index-{page}.html"
MOST_CELLS, FEWEST_ROWS = 3000, 100
"""Outcomes on a page: with many stores it has fewer rows."""


def most_rows(stores: int) -> int:
    """Questions on a page."""
    return max(FEWEST_ROWS, MOST_CELLS // max(1, stores))


def render_questions(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    found = site.library.named("diagnosis", parts["diagnosis"])
    diagnosed = site.library.diagnosis(found)
    known = choices(diagnosed)
    if parts["chosen"] not in known:
        raise NotHere("there is no such list of questions")
    choice = known[parts["chosen"]]
    address = addresses.diagnosis(found.slug, choice.slug)
    rows = chosen(diagnosed, choice)
    shown = turned(rows, address, parts, most_rows(len(diagnosed.stores)))
    return site.render(
        "questions.html", addresses.turned(address, shown.number),
        f"{found.name}: {choice.title}", crumbs=diagnosis_crumbs(found), found=found,
        diagnosed=diagnosed,
        choice=choice, choices=known, shown=shown, in_words=in_words,
    )  # fmt: skip


def lists(site: "Site", parts: Parts) -> Iterable[Parts]:
    """The first page of every list."""
    diagnosed = site.library.diagnosis(site.library.named("diagnosis", parts["diagnosis"]))
    return [{**parts, "chosen": name} for name in choices(diagnosed)]


def questions_pages(site: "Site", parts: Parts) -> Iterable[Parts]:
    """The pages after the first of every list."""
    diagnosed = site.library.diagnosis(site.library.named("diagnosis", parts["diagnosis"]))
    most = most_rows(len(diagnosed.stores))
    for name, choice in choices(diagnosed).items():
        yield from others({**parts, "chosen": name}, len(chosen(diagnosed, choice)), most)


QUESTIONS_PAGE = Page(QUESTIONS_PATTERN, render_questions, "diagnosis", lists)
QUESTIONS_NEXT = Page(MORE, render_questions, "diagnosis", questions_pages)

"""A diagnosis: outcomes by store, lists of questions, and the evidence chain of one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from memaudit.lab.downstream.diagnosis_files import REMARKS, DiagnosisRow, Outcome
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.addresses import slug
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.library.records import DiagnosedQuestion, DiagnosisFolder
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.package_data import Links, package_links
from memaudit.lab.explorer.views.parts import later_pages, list_page, neighbours

ALL, FAILURES = "all", "failures"
"""Names in addresses. Those of other lists end in a hash, so they cannot be equal to these."""


@dataclass(frozen=True, slots=True)
class QuestionList:
    """A list of questions by its name in addresses; without a store it is about all of them."""

    slug: str
    title: str
    store: str | None = None
    outcome: Outcome | None = None

    def contains(self, question: DiagnosedQuestion) -> bool:
        if self.slug == ALL:
            return True
        rows = [row for row in question.rows if self.store is None or row.store == self.store]
        if self.outcome is not None:
            return any(row.outcome is self.outcome for row in rows)
        return any(row.failed for row in rows)


def question_lists(diagnosed: DiagnosisFolder) -> Mapping[str, QuestionList]:
    lists = [
        QuestionList(ALL, "all questions"),
        QuestionList(FAILURES, "not answered right by some store"),
    ]
    seen = {(row.store, row.outcome) for row in diagnosed.rows}
    for store in diagnosed.stores:
        lists.append(QuestionList(failures_slug(store), f"not answered right by {store}", store))
        lists += (
            QuestionList(
                outcome_slug(store, outcome), f"{in_words(outcome)} at {store}", store, outcome
            )
            for outcome in Outcome
            if (store, outcome) in seen
        )
    return {questions.slug: questions for questions in lists}


def failures_slug(store: str) -> str:
    """The list of questions that one store did not answer correctly."""
    return slug(store, FAILURES)


def outcome_slug(store: str, outcome: Outcome) -> str:
    return slug(store, outcome.value)


def in_words(name: str) -> str:
    """A name of an outcome, a stage or a remark as words."""
    return str(name).replace("_", " ")


def questions_in(diagnosed: DiagnosisFolder, chosen: QuestionList) -> list[DiagnosedQuestion]:
    """The questions of a list, in the order of the rows."""
    return [question for question in diagnosed.questions.values() if chosen.contains(question)]


def outcome_counts(diagnosed: DiagnosisFolder) -> dict[str, dict[Outcome, int]]:
    """How often each outcome occurs at every store, in the order of the spec."""
    counts = {name: dict.fromkeys(Outcome, 0) for name in diagnosed.stores}
    for row in diagnosed.rows:
        counts[row.store][row.outcome] += 1
    return counts


DIAGNOSIS_PATTERN = "diagnosis/{diagnosis}/index.html"
SETTINGS = ("budget", "retriever", "k", "reader", "grader", "policy", "judge", "seed")


def render_diagnosis(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("diagnosis", parts["diagnosis"])
    diagnosed = site.library.diagnosis(entry)
    return site.render(
        "diagnosis.html",
        addresses.diagnosis(entry.slug),
        entry.name,
        crumbs=site.crumbs(entry),
        entry=entry,
        diagnosed=diagnosed,
        damage=site.library.without_paths(diagnosed.damage),
        counts=outcome_counts(diagnosed),
        outcomes=list(Outcome),
        outcome_slug=outcome_slug,
        failures_slug=failures_slug,
        in_words=in_words,
        settings=[(name, text) for name in SETTINGS if (text := diagnosed.setting(name))],
        stores_here=stores_here(site),
    )


def stores_here(site: Site) -> dict[str, str]:
    """Pages of exported stores, by their names."""
    entries = reversed(site.library.of("store"))
    return {entry.name: addresses.store(entry.slug) for entry in entries}


DIAGNOSIS_PAGE = Page(DIAGNOSIS_PATTERN, render_diagnosis, "diagnosis")


QUESTION_PATTERN = "diagnosis/{diagnosis}/question/{question}.html"
MOST_MEMORIES = 100
"""Memories shown per unit, and retrieved memories shown; more are counted."""


def render_question(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("diagnosis", parts["diagnosis"])
    diagnosed = site.library.diagnosis(entry)
    if parts["question"] not in diagnosed.questions:
        raise NotInLibrary("the diagnosis has no such question")
    question = diagnosed.questions[parts["question"]]
    links = package_links(
        site.library, question.first.package, diagnosed.digest_of(question.first.package)
    )
    return site.render(
        "question.html",
        addresses.question(entry.slug, question.slug),
        question.first.question or question.first.query,
        crumbs=site.crumbs(entry, inside=True),
        entry=entry,
        question=question,
        links=links,
        why=REMARKS,
        in_words=in_words,
        most=MOST_MEMORIES,
        stores_here=stores_here(site),
        candidates={row.store: _candidates(row, links) for row in question.rows},
        **neighbours(
            list(diagnosed.questions),
            diagnosed.place_of[question.slug],
            partial(addresses.question, entry.slug),
        ),
    )


def _candidates(row: DiagnosisRow, links: Links) -> dict[str, str]:
    """Addresses of memories in the stream, if they are candidates of the package, word for word."""
    if links.indexed is None:
        return {}
    known = {}
    for id, text in row.texts.items():
        address = links.candidate(id)
        if address is not None and links.indexed.package.candidate[id].text == text:
            known[id] = address
    return known


def question_pages(site: Site, parts: PathParams) -> Iterable[PathParams]:
    diagnosed = site.library.diagnosis(site.library.named("diagnosis", parts["diagnosis"]))
    return [{**parts, "question": name} for name in diagnosed.questions]


QUESTION_PAGE = Page(QUESTION_PATTERN, render_question, "diagnosis", question_pages)


QUESTIONS_PATTERN = "diagnosis/{diagnosis}/{chosen}/index.html"
QUESTIONS_NEXT_PATTERN = "diagnosis/{diagnosis}/{chosen}/index-{page}.html"
MOST_CELLS, FEWEST_ROWS = 3000, 100
"""Outcomes per page: with many stores it has fewer rows."""


def most_rows(stores: int) -> int:
    """Questions per page."""
    return max(FEWEST_ROWS, MOST_CELLS // max(1, stores))


def render_questions(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("diagnosis", parts["diagnosis"])
    diagnosed = site.library.diagnosis(entry)
    lists = question_lists(diagnosed)
    if parts["chosen"] not in lists:
        raise NotInLibrary("there is no such list of questions")
    chosen = lists[parts["chosen"]]
    address = addresses.diagnosis(entry.slug, chosen.slug)
    rows = questions_in(diagnosed, chosen)
    shown = list_page(rows, address, parts, most_rows(len(diagnosed.stores)))
    return site.render(
        "questions.html",
        addresses.list_page_address(address, shown.number),
        f"{entry.name}: {chosen.title}",
        crumbs=site.crumbs(entry, inside=True),
        entry=entry,
        diagnosed=diagnosed,
        chosen=chosen,
        lists=lists,
        shown=shown,
        in_words=in_words,
    )


def first_list_pages(site: Site, parts: PathParams) -> Iterable[PathParams]:
    diagnosed = site.library.diagnosis(site.library.named("diagnosis", parts["diagnosis"]))
    return [{**parts, "chosen": name} for name in question_lists(diagnosed)]


def later_list_pages(site: Site, parts: PathParams) -> Iterable[PathParams]:
    """The pages after the first of every list."""
    diagnosed = site.library.diagnosis(site.library.named("diagnosis", parts["diagnosis"]))
    most = most_rows(len(diagnosed.stores))
    for name, chosen in question_lists(diagnosed).items():
        count = len(questions_in(diagnosed, chosen))
        yield from later_pages({**parts, "chosen": name}, count, most)


QUESTIONS_PAGE = Page(QUESTIONS_PATTERN, render_questions, "diagnosis", first_list_pages)
QUESTIONS_NEXT = Page(QUESTIONS_NEXT_PATTERN, render_questions, "diagnosis", later_list_pages)

"""One question of a diagnosis: at every store the chain from unit to memory to rank to answer."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memaudit.downstream.examine import WHY
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.diagnosed import Row
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.pages.diagnosis import crumbs, stores_here
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.package_links import Links, package_links
from memaudit.web.explorer.views.question_choices import in_words

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "diagnosis/{diagnosis}/question/{question}.html"
MOST_MEMORIES = 100
"""Memories that cover a unit, and memories retrieved; more are counted."""


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
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
        question.first.question or question.first.query, crumbs=crumbs(found), found=found,
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


def inside(site: "Site", parts: Parts) -> Iterable[Parts]:
    """A page for every question."""
    diagnosed = site.library.diagnosis(site.library.named("diagnosis", parts["diagnosis"]))
    return [{**parts, "question": name} for name in diagnosed.questions]


PAGE = Page(PATTERN, render, "diagnosis", inside)

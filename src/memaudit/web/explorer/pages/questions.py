"""Questions of a diagnosis in a table: all of them, failures only, or one outcome of one store."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.pages.diagnosis import crumbs
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.paging import others, turned
from memaudit.web.explorer.views.question_choices import choices, chosen, in_words

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "diagnosis/{diagnosis}/{chosen}/index.html"
MORE = "diagnosis/{diagnosis}/{chosen}/index-{page}.html"
MOST_CELLS, FEWEST_ROWS = 3000, 100
"""Outcomes on a page: with many stores it has fewer rows."""


def most_rows(stores: int) -> int:
    """Questions on a page."""
    return max(FEWEST_ROWS, MOST_CELLS // max(1, stores))


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
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
        f"{found.name}: {choice.title}", crumbs=crumbs(found), found=found, diagnosed=diagnosed,
        choice=choice, choices=known, shown=shown, in_words=in_words,
    )  # fmt: skip


def lists(site: "Site", parts: Parts) -> Iterable[Parts]:
    """The first page of every list."""
    diagnosed = site.library.diagnosis(site.library.named("diagnosis", parts["diagnosis"]))
    return [{**parts, "chosen": name} for name in choices(diagnosed)]


def pages(site: "Site", parts: Parts) -> Iterable[Parts]:
    """The pages after the first of every list."""
    diagnosed = site.library.diagnosis(site.library.named("diagnosis", parts["diagnosis"]))
    most = most_rows(len(diagnosed.stores))
    for name, choice in choices(diagnosed).items():
        yield from others({**parts, "chosen": name}, len(chosen(diagnosed, choice)), most)


PAGE = Page(PATTERN, render, "diagnosis", lists)
NEXT = Page(MORE, render, "diagnosis", pages)

"""Failures only: every unit that a store of a score file lost, and the step that lost it."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.score_sheets import Line, Scores
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.scores import crumbs
from memaudit.web.explorer.views.lost import STEP_AT, Lost, lost_units
from memaudit.web.explorer.views.package_links import Links, package_links
from memaudit.web.explorer.views.paging import others, turned

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN, MORE = "scores/{scores}/lost.html", "scores/{scores}/lost-{page}.html"
MOST_ROWS = 500
"""Lost units on a page."""


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page; only packages of lines on it are opened for their texts and links."""
    found = site.library.named("scores", parts["scores"])
    scores = site.library.score_sheets(found)
    address = addresses.scores(found.slug, "lost.html")
    shown = turned(_rows(scores), address, parts, MOST_ROWS)
    rows = list(_linked(site, shown.rows))
    return site.render(
        "lost.html", addresses.turned(address, shown.number), f"{found.name}: lost units",
        crumbs=crumbs(found), found=found, shown=shown, rows=rows,
        step_at=STEP_AT,
        unlisted=sum(lost_units(line.score, Links()).unlisted for line in scores.lines),
    )  # fmt: skip


def _rows(scores: Scores) -> list[tuple[Line, int]]:
    """Every lost unit, by its line and its place there."""
    return [
        (line, place)
        for line in scores.lines
        for place in range(len(lost_units(line.score, Links()).units))
    ]


def _linked(site: "Site", rows: Iterable[tuple[Line, int]]) -> Iterator[tuple[Line, Lost]]:
    known: dict[str, tuple[Lost, ...]] = {}
    for line, place in rows:
        if line.slug not in known:
            links = package_links(site.library, line.sheet.package, line.sheet.digest)
            known[line.slug] = lost_units(line.score, links).units
        yield line, known[line.slug][place]


def pages(site: "Site", parts: Parts) -> Iterable[Parts]:
    """The pages after the first."""
    scores = site.library.score_sheets(site.library.named("scores", parts["scores"]))
    return others(parts, len(_rows(scores)), MOST_ROWS)


PAGE = Page(PATTERN, render, "scores")
NEXT = Page(MORE, render, "scores", pages)

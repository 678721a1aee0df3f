"""One store at one budget: its ratios, where its value went, and the very units it lost."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memaudit.scoring.diagnosis import STEPS
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.library.score_sheets import Line
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.scores import crumbs, fall
from memaudit.web.explorer.views.lost import STEP_AT, lost_units
from memaudit.web.explorer.views.package_links import package_links
from memaudit.web.explorer.views.systems import scored_in

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "scores/{scores}/at/{score}.html"
MOST_LOST, MOST_CELLS = 500, 500
"""Longer lists are cut, and say so."""


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    found = site.library.named("scores", parts["scores"])
    scores = site.library.score_sheets(found)
    if parts["score"] not in scores.by_slug:
        raise NotHere("the file has no such score")
    line = scores.by_slug[parts["score"]]
    at = line.place
    links = package_links(site.library, line.sheet.package, line.sheet.digest)
    cells = line.sheet.cells.get(line.score.store, ())
    store = scored_in(site.library, line)
    return site.render(
        "score.html", addresses.score(found.slug, line.slug),
        f"{line.score.store} on {line.sheet.package}", crumbs=crumbs(found), found=found,
        line=line, bars=fall(line), links=links, lost=lost_units(line.score, links),
        cells=cells, most_lost=MOST_LOST, most_cells=MOST_CELLS, steps=STEPS,
        step_at=STEP_AT,
        before=_beside(found.slug, scores.lines, at - 1),
        after=_beside(found.slug, scores.lines, at + 1), number=at + 1, count=len(scores.lines),
        store_page=addresses.store(store.slug) if store else None,
    )  # fmt: skip


def _beside(slug: str, lines: tuple[Line, ...], at: int) -> str | None:
    return addresses.score(slug, lines[at].slug) if 0 <= at < len(lines) else None


def inside(site: "Site", parts: Parts) -> Iterable[Parts]:
    """A page for every line of the file."""
    scores = site.library.score_sheets(site.library.named("scores", parts["scores"]))
    return [{**parts, "score": line.slug} for line in scores.lines]


PAGE = Page(PATTERN, render, "scores", inside)

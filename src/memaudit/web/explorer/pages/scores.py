"""A score file: every package, store and budget in one table, with where the value went."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memaudit.scoring.diagnosis import STEPS
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.library.score_sheets import Line, Scores
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.paging import others, turned
from memaudit.web.explorer.views.waterfall import ABOUT, Bar, losses_of

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN, MORE = "scores/{scores}/index.html", "scores/{scores}/index-{page}.html"
MOST_ROWS = 500
"""Scores on a page."""
MOST_FALLS = 12
"""Of more lines no waterfalls are drawn in a row: each has its own page."""
MOST_LISTED = 100
MOST_POLICIES = 6
"""Columns; the page of a score has a row for every policy."""


def crumbs(found: Found, inside: bool = True) -> tuple[tuple[str, str], ...]:
    """The way back."""
    top = ("Score files", addresses.INDEX + "#score-files")
    return (top, (found.name, addresses.scores(found.slug))) if inside else (top,)


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    found = site.library.named("scores", parts["scores"])
    scores = site.library.score_sheets(found)
    address = addresses.scores(found.slug)
    shown = turned(scores.lines, address, parts, MOST_ROWS)
    policies = list(dict.fromkeys(name for line in scores.lines for name in line.score.pruned))
    few = len(scores.lines) <= MOST_FALLS
    return site.render(
        "scores.html", addresses.turned(address, shown.number), found.name,
        crumbs=crumbs(found, False), found=found, scores=scores, shown=shown,
        policies=policies[:MOST_POLICIES], more_policies=len(policies[MOST_POLICIES:]),
        falls=[(line, fall(line)) for line in scores.lines if line.score.told] if few else [],
        bars={line.slug: fall(line) for line in shown.rows}, steps=STEPS, about=ABOUT,
        accounts=_accounts(scores), most=MOST_LISTED,
    )  # fmt: skip


def fall(line: Line) -> tuple[Bar, ...]:
    """The waterfall of a line; nothing where there is no diagnosis."""
    return losses_of(line.score.told) if line.score.told else ()


def _accounts(scores: Scores) -> list[tuple[str, str, str]]:
    """What the scores do not see: package, store, and what in words."""
    said = []
    for sheet in scores.sheets:
        for store in sheet.stores:
            words = list(store.warnings)
            if store.unread_rows:
                words.append(f"rows of the export that were not read: {store.unread_rows:,}")
            if store.undecided_cells:
                words.append(f"cells without an answer: {store.undecided_cells:,}")
            words += [f"left out, {what}: {count:,}" for what, count in store.left_out.items()]
            words += [f"without {sort}: {n:,}" for sort, n in store.without_salience.items()]
            said += [(sheet.package, store.name, text) for text in words]
    return said


def pages(site: "Site", parts: Parts) -> Iterable[Parts]:
    """The pages after the first."""
    scores = site.library.score_sheets(site.library.named("scores", parts["scores"]))
    return others(parts, len(scores.lines), MOST_ROWS)


PAGE = Page(PATTERN, render, "scores")
NEXT = Page(MORE, render, "scores", pages)

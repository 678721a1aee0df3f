"""A score file: all stores in one table, one store at one budget, and the units it lost."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memaudit.scoring.diagnosis import STEPS
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.entries import Found
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.library.score_file import Line, LostUnit, Score, Scores
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.package_links import Links, package_links
from memaudit.web.explorer.views.package_stores import scored_in
from memaudit.web.explorer.views.paging import others, turned
from memaudit.web.explorer.views.waterfall import ABOUT, Bar, losses_of

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site


PATTERN, MORE = "scores/{scores}/index.html", "scores/{scores}/index-{page}.html"
SCORES_MOST_ROWS = 500
"""Scores on a page."""
MOST_FALLS = 12
"""Of more lines no waterfalls are drawn in a row: each has its own page."""
SCORES_MOST_LISTED = 100
MOST_POLICIES = 6
"""Columns; the page of a score has a row for every policy."""


def scores_crumbs(found: Found, inside: bool = True) -> tuple[tuple[str, str], ...]:
    """The way back."""
    top = ("Score files", addresses.INDEX + "#score-files")
    return (top, (found.name, addresses.scores(found.slug))) if inside else (top,)


def render_scores(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    found = site.library.named("scores", parts["scores"])
    scores = site.library.score_sheets(found)
    address = addresses.scores(found.slug)
    shown = turned(scores.lines, address, parts, SCORES_MOST_ROWS)
    policies = list(dict.fromkeys(name for line in scores.lines for name in line.score.pruned))
    few = len(scores.lines) <= MOST_FALLS
    return site.render(
        "scores.html", addresses.turned(address, shown.number), found.name,
        crumbs=scores_crumbs(found, False), found=found, scores=scores, shown=shown,
        policies=policies[:MOST_POLICIES], more_policies=len(policies[MOST_POLICIES:]),
        falls=[(line, fall(line)) for line in scores.lines if line.score.told] if few else [],
        bars={line.slug: fall(line) for line in shown.rows}, steps=STEPS, about=ABOUT,
        accounts=_accounts(scores), most=SCORES_MOST_LISTED,
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


def scores_pages(site: "Site", parts: Parts) -> Iterable[Parts]:
    """The pages after the first."""
    scores = site.library.score_sheets(site.library.named("scores", parts["scores"]))
    return others(parts, len(scores.lines), SCORES_MOST_ROWS)


SCORES_PAGE = Page(PATTERN, render_scores, "scores")
SCORES_NEXT = Page(MORE, render_scores, "scores", scores_pages)


STEP_AT = {step: place for place, step in enumerate(STEPS, start=1)}
"""The steps numbered from 1, as waterfalls number them."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A query that needs a lost unit."""

    id: str
    text: str
    address: str | None


@dataclass(frozen=True, slots=True)
class Lost:
    """A unit that is worth less than in OPT; its parts by step add up to `lost`."""

    id: str
    text: str
    kind: str
    lost: float
    kept: float | None
    step: str
    parts: Mapping[str, float]
    address: str | None
    queries: tuple[Asking, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class LostUnits:
    """What is known of a score's lost units. The file may list the largest of each step only:
    `unlisted` says how many are missing, summed over steps."""

    units: tuple[Lost, ...]
    unlisted: int


def lost_units(score: Score, links: Links) -> LostUnits:
    """All of them where the file was made with cells, else the largest of each step."""
    if score.lost_units is not None:
        return LostUnits(tuple(_told(one, links) for one in score.lost_units), 0)
    if score.told is None:
        return LostUnits((), 0)
    parts: dict[str, dict[str, float]] = {}
    for name, loss in score.told.losses.items():
        for unit, part in loss.units:
            parts.setdefault(unit, {})[name] = part
    found = [
        _summed(unit, by_step, links) for unit, by_step in parts.items() if sum(by_step.values())
    ]
    found = [one for one in found if one.lost > 0]
    found.sort(key=lambda one: (-one.lost, one.id))
    unlisted = sum(loss.more_units for loss in score.told.losses.values())
    return LostUnits(tuple(found), unlisted)


def _told(one: LostUnit, links: Links) -> Lost:
    asked = tuple(Asking(query.id, query.text, links.query(query.id)) for query in one.queries)
    return Lost(one.unit, one.text, one.kind, one.lost, one.kept, one.step, one.parts,
                links.unit(one.unit), asked)  # fmt: skip


def _summed(unit: str, parts: Mapping[str, float], links: Links) -> Lost:
    """Of a file without texts: they are the package's, if it is here."""
    known = links.told(unit)
    step = max(STEPS, key=lambda step: parts.get(step, 0.0))
    asked: tuple[Asking, ...] = ()
    if links.opened is not None:
        asked = tuple(
            Asking(query.id, query.text, links.query(query.id))
            for query in links.opened.package.queries
            if unit in query.required
        )
    return Lost(
        unit, known.text if known else "", known.kind if known else "", sum(parts.values()), None,
        step, parts, links.unit(unit), asked,
    )  # fmt: skip


SCORE_PATTERN = "scores/{scores}/at/{score}.html"
MOST_LOST, MOST_CELLS = 500, 500
"""Longer lists are cut, and say so."""


def render_score(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
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
        f"{line.score.store} on {line.sheet.package}", crumbs=scores_crumbs(found), found=found,
        line=line, bars=fall(line), links=links, lost=lost_units(line.score, links),
        cells=cells, most_lost=MOST_LOST, most_cells=MOST_CELLS, steps=STEPS,
        step_at=STEP_AT,
        before=_beside(found.slug, scores.lines, at - 1),
        after=_beside(found.slug, scores.lines, at + 1), number=at + 1, count=len(scores.lines),
        store_page=addresses.store(store.slug) if store else None,
    )  # fmt: skip


def _beside(slug: str, lines: tuple[Line, ...], at: int) -> str | None:
    return addresses.score(slug, lines[at].slug) if 0 <= at < len(lines) else None


def inside_score(site: "Site", parts: Parts) -> Iterable[Parts]:
    """A page for every line of the file."""
    scores = site.library.score_sheets(site.library.named("scores", parts["scores"]))
    return [{**parts, "score": line.slug} for line in scores.lines]


SCORE_PAGE = Page(SCORE_PATTERN, render_score, "scores", inside_score)


LOST_PATTERN, LOST_MORE = "scores/{scores}/lost.html", "scores/{scores}/lost-{page}.html"
LOST_MOST_ROWS = 500
"""Lost units on a page."""


def render_lost(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page; only packages of lines on it are opened for their texts and links."""
    found = site.library.named("scores", parts["scores"])
    scores = site.library.score_sheets(found)
    address = addresses.scores(found.slug, "lost.html")
    shown = turned(_rows(scores), address, parts, LOST_MOST_ROWS)
    rows = list(_linked(site, shown.rows))
    return site.render(
        "lost.html", addresses.turned(address, shown.number), f"{found.name}: lost units",
        crumbs=scores_crumbs(found), found=found, shown=shown, rows=rows,
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


def lost_pages(site: "Site", parts: Parts) -> Iterable[Parts]:
    """The pages after the first."""
    scores = site.library.score_sheets(site.library.named("scores", parts["scores"]))
    return others(parts, len(_rows(scores)), LOST_MOST_ROWS)


LOST_PAGE = Page(LOST_PATTERN, render_lost, "scores")
LOST_NEXT = Page(LOST_MORE, render_lost, "scores", lost_pages)

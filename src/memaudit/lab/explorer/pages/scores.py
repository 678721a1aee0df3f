"""A score file: all stores in one table, and one store at one budget with the units it lost."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from memaudit.kernel.io.score_file import LostUnitRow, ScoreRow
from memaudit.kernel.losses import LOSS_STEPS
from memaudit.kernel.package.unit_parts import by_statement, named_part
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.library.records import ScoreLine, ScoreLines
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.package_data import Links, package_links
from memaudit.lab.explorer.views.package_stores import scored_in
from memaudit.lab.explorer.views.parts import (
    ABOUT,
    WaterfallBar,
    list_page,
    list_pages,
    losses_of,
    neighbours,
)

MOST_ROWS = 500
"""Score lines per page."""
MOST_FALLS = 12
"""With more lines no waterfalls are drawn here; each line has its own page."""
MOST_LISTED = 100


def render_scores(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("scores", parts["scores"])
    scores = site.library.scores(entry)
    address = addresses.scores(entry.slug)
    shown = list_page(scores.lines, address, parts, MOST_ROWS)
    few = len(scores.lines) <= MOST_FALLS
    return site.render(
        "scores.html",
        addresses.list_page_address(address, shown.number),
        entry.name,
        crumbs=site.crumbs(entry),
        entry=entry,
        scores=scores,
        shown=shown,
        falls=[(line, waterfall_of(line)) for line in scores.lines if line.score.loss_diagnosis]
        if few
        else [],
        bars={line.slug: waterfall_of(line) for line in shown.rows},
        steps=LOSS_STEPS,
        about=ABOUT,
        caveats=_caveats(scores),
        most=MOST_LISTED,
    )


def waterfall_of(line: ScoreLine) -> tuple[WaterfallBar, ...]:
    """The waterfall of a line; empty if there is no diagnosis."""
    return losses_of(line.score.loss_diagnosis) if line.score.loss_diagnosis else ()


def _caveats(scores: ScoreLines) -> list[tuple[str, str, str]]:
    """What the scores do not cover: package, store, and a line of text."""
    notes = []
    for file in scores.run.packages:
        for store in file.stores:
            words = list(store.warnings)
            if store.unread_rows:
                words.append(f"rows of the export that were not read: {store.unread_rows:,}")
            if store.undecided_cells:
                words.append(f"cells without an answer: {store.undecided_cells:,}")
            words += [f"left out, {what}: {count:,}" for what, count in store.left_out.items()]
            words += [f"without {sort}: {n:,}" for sort, n in store.without_salience.items()]
            if store.mixed_users:
                words.append(f"users that recency mixes: {len(store.mixed_users):,}")
            notes += [(file.package, store.name, text) for text in words]
    return notes


def _count_scores(site: Site, parts: PathParams) -> int:
    return len(site.library.scores(site.library.named("scores", parts["scores"])).lines)


SCORES_PAGES = list_pages("scores/{scores}/index.html", render_scores, _count_scores, MOST_ROWS)


@dataclass(frozen=True, slots=True)
class LinkedQuery:
    """A query that needs a lost unit."""

    id: str
    text: str
    address: str | None


@dataclass(frozen=True, slots=True)
class LinkedLostUnit:
    """What a unit lost at a step, or gained, which is negative."""

    id: str
    text: str
    kind: str
    lost: float
    step: str
    address: str | None
    queries: tuple[LinkedQuery, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class LostUnits:
    """The lost units of a score. A file without cells lists only the largest of each step;
    `unlisted` counts the others, summed over steps."""

    units: tuple[LinkedLostUnit, ...]
    unlisted: int


def lost_units(score: ScoreRow, links: Links) -> LostUnits:
    """All of them if the file was made with cells, otherwise the largest of each step."""
    if score.lost_units is not None:
        return LostUnits(tuple(_linked_unit(unit, links) for unit in score.lost_units), 0)
    if score.loss_diagnosis is None:
        return LostUnits((), 0)
    losses = score.loss_diagnosis.losses
    units = tuple(
        _without_text(unit, part, step, links)
        for step, loss in losses.items()
        for unit, part in loss.units
    )
    return LostUnits(units, sum(loss.more_units for loss in losses.values()))


def lost_rows(units: Iterable[LinkedLostUnit]) -> list[LinkedLostUnit]:
    """A row per unit and step; the parts of a statement that went the same way share one."""
    named = [(unit, named_part(unit.id, unit.text)) for unit in units]
    rows = []
    for own in by_statement(
        named, lambda row: row[1] and (row[1].statement, row[0].step, row[0].lost > 0)
    ):
        unit, part = own[0]
        if part is not None:
            names = ", ".join(piece.name for _, piece in own if piece is not None)
            unit = replace(
                unit,
                id=part.statement,
                text=f"{part.text} ({names})",
                lost=sum(lost_unit.lost for lost_unit, _ in own),
                queries=tuple(
                    dict.fromkeys(query for lost_unit, _ in own for query in lost_unit.queries)
                ),
            )
        rows.append(unit)
    return rows


def _linked_unit(row: LostUnitRow, links: Links) -> LinkedLostUnit:
    queries = tuple(
        LinkedQuery(query.id, query.text, links.query(query.id)) for query in row.asked_by
    )
    return LinkedLostUnit(
        row.unit, row.text, row.kind, row.lost, row.step, links.unit(row.unit), queries
    )


def _without_text(unit: str, lost: float, step: str, links: Links) -> LinkedLostUnit:
    """For a file without texts: they are taken from the package if it is in the library."""
    known = links.package_unit(unit)
    queries: tuple[LinkedQuery, ...] = ()
    if links.indexed is not None:
        queries = tuple(
            LinkedQuery(query.id, query.text, links.query(query.id))
            for query in links.indexed.package.queries
            if unit in query.required
        )
    text, kind = (known.text, known.kind) if known else ("", "")
    return LinkedLostUnit(unit, text, kind, lost, step, links.unit(unit), queries)


SCORE_PATTERN = "scores/{scores}/at/{score}.html"
MOST_LOST, MOST_CELLS = 500, 500
"""Longer lists are cut, with a note."""


def render_score(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("scores", parts["scores"])
    scores = site.library.scores(entry)
    if parts["score"] not in scores.by_slug:
        raise NotInLibrary("the file has no such score")
    line = scores.by_slug[parts["score"]]
    links = package_links(site.library, line.file.package, line.file.digest)
    cells = line.file.cells.get(line.score.store, ())
    lost = lost_units(line.score, links)
    store = scored_in(site.library, line)
    return site.render(
        "score.html",
        addresses.score(entry.slug, line.slug),
        f"{line.score.store} on {line.file.package}",
        crumbs=site.crumbs(entry, inside=True),
        entry=entry,
        line=line,
        bars=waterfall_of(line),
        links=links,
        lost=lost,
        lost_rows=lost_rows(lost.units),
        cells=cells,
        most_lost=MOST_LOST,
        most_cells=MOST_CELLS,
        steps=LOSS_STEPS,
        **neighbours(list(scores.by_slug), line.place, partial(addresses.score, entry.slug)),
        store_page=addresses.store(store.slug) if store else None,
    )


def score_pages(site: Site, parts: PathParams) -> Iterable[PathParams]:
    scores = site.library.scores(site.library.named("scores", parts["scores"]))
    return [{**parts, "score": line.slug} for line in scores.lines]


SCORE_PAGE = Page(SCORE_PATTERN, render_score, "scores", score_pages)

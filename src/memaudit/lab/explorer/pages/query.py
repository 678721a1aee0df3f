"""A query: its required units, the candidates that cover them, and the exact cheapest store."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from memaudit.kernel.package.objective import value
from memaudit.kernel.package.package import Package, Query
from memaudit.kernel.package.unit_parts import NO_PART, WholeUnit, whole_units
from memaudit.kernel.solvers.solve import PackageSolver
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.library.packages import IndexedPackage
from memaudit.lab.explorer.pages.package import kept_share, whole_cells
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.parts import neighbours

MOST_CANDIDATES = 150
SECONDS = 2.0
"""For larger packages the search could take longer, and the page shows no cost."""


@dataclass(frozen=True, slots=True)
class Cover:
    """The least cost of covering a query. `is_full` if all of every unit can be covered."""

    cost: Fraction
    store: tuple[str, ...]
    is_full: bool


def cheapest(indexed: IndexedPackage, query: Query, seconds: float = SECONDS) -> Cover | None:
    """The cheapest store with the largest value for this query. None if that is not proven in time.

    The package with only this query's units is solved at decreasing budgets until its value falls.
    """
    part = _only(indexed, query)
    if part is None or len(part.candidates) > MOST_CANDIDATES or seconds <= 0:
        return None
    until = time.monotonic() + seconds
    solver = PackageSolver(part)
    optimum = best = solver.solve(part.total_cost(part.candidate), seconds=seconds)
    grain = Fraction(1, solver.form.cost_scale)
    while optimum.certified and optimum.value == best.value and optimum.cost > 0:
        best, left = optimum, until - time.monotonic()
        if left <= 0:
            return None
        optimum = solver.solve(optimum.cost - grain, seconds=left)
    if not optimum.certified:
        return None
    best = optimum if optimum.value == best.value else best
    everything = sum(
        (
            unit.response.at(unit.response.saturates_at or Fraction(1)).low * part.weights[unit.id]
            for unit in part.units
        ),
        Fraction(0),
    )
    return Cover(best.cost, best.store, value(part, best.store).low >= everything)


def _only(indexed: IndexedPackage, query: Query) -> Package | None:
    """The package with only what this query requires; None if no candidate helps."""
    units = tuple(
        unit.model_copy(update={"weight": unit.share, **NO_PART})
        for unit in indexed.units
        if unit.id in query.required
    )
    places = sorted(
        {place for unit in units for place, _ in indexed.coverers[indexed.unit_at[unit.id]]}
    )
    if not places:
        return None
    part = indexed.package.only({indexed.candidates[place].id for place in places})
    return part.replace(
        units=units,
        queries=(),
        coverage=tuple(cell for cell in part.coverage if cell.unit in query.required),
    )


@dataclass(frozen=True, slots=True)
class CoveringCandidate:
    """A candidate that covers some of what a query requires of a unit or a statement."""

    place: int
    share: Fraction
    """Of all that the query requires of it."""
    parts: str
    """The names of the parts that it keeps; empty for a plain unit."""
    remarks: str


@dataclass(frozen=True, slots=True)
class RequiredUnit:
    """A unit that a query requires, or a statement with the parts that it requires."""

    whole: WholeUnit
    weight: Fraction
    coverers: tuple[CoveringCandidate, ...]


def required_rows(indexed: IndexedPackage, query: Query) -> list[RequiredUnit]:
    """What a query requires, in its order, and who covers it, the cheapest first."""
    units = (indexed.units[indexed.unit_at[id]] for id in dict.fromkeys(query.required))
    weights = indexed.package.weights
    return [
        RequiredUnit(
            whole,
            sum((weights[unit.id] for unit in whole.units), Fraction(0)),
            tuple(_coverers(whole, indexed)),
        )
        for whole in whole_units(units)
    ]


def _coverers(whole: WholeUnit, indexed: IndexedPackage) -> Iterator[CoveringCandidate]:
    required = whole.share({unit.id for unit in whole.units})
    for place, cells in whole_cells(whole, indexed):
        names = ", ".join(unit.part or "" for unit in whole.units if unit.id in cells)
        words = (
            word
            for cell in cells.values()
            for word in (cell.label, cell.rationale, cell.provenance)
        )
        remarks = " \N{MIDDLE DOT} ".join(dict.fromkeys(filter(None, words)))
        share = kept_share(whole, cells) / required
        yield CoveringCandidate(place, share, names if whole.has_parts else "", remarks)


QUERY_PATTERN = "package/{package}/query/{query}.html"


def queries(site: Site, parts: PathParams) -> Iterable[PathParams]:
    return [{**parts, "query": slug} for slug in site.package(parts["package"]).query_slugs]


def render_query(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    indexed = site.package(parts["package"])
    query = indexed.query_slugs.get(parts["query"])
    if query is None:
        raise NotInLibrary("the package has no such query")
    slugs = list(indexed.query_slugs)
    slug = indexed.entry.slug
    rows = required_rows(indexed, query)
    with site.optima(indexed).allowance.spend(SECONDS) as seconds:
        cover = cheapest(indexed, query, seconds)
    return site.render(
        "query.html",
        addresses.query(slug, parts["query"]),
        query.text or query.id,
        crumbs=site.crumbs(indexed.entry, inside=True),
        indexed=indexed,
        query=query,
        rows=rows,
        helped=any(row.coverers for row in rows),
        cover=cover,
        tab="",
        **neighbours(slugs, slugs.index(parts["query"]), partial(addresses.query, slug)),
    )


QUERY_PAGE = Page(QUERY_PATTERN, render_query, "package", queries)

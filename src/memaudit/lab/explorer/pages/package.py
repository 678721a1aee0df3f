"""A package: its overview, its stream, its coverage matrix and its stores at a chosen budget."""

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Coverage, EvidenceUnit
from memaudit.kernel.package.unit_parts import WholeUnit, whole_units
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.addresses import anchor
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.library.packages import IndexedPackage
from memaudit.lab.explorer.site import JsonEndpoint, Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.optima import runnable_writers
from memaudit.lab.explorer.views.package_data import number_text, package_data, shown
from memaudit.lab.explorer.views.package_stores import (
    SystemStore,
    system_store,
    system_stores,
)
from memaudit.lab.explorer.views.store_comparison import ComparableStore
from memaudit.lab.explorer.views.store_table import (
    OptStore,
    first_budget,
    frontier_data,
    run_rows,
    run_rows_data,
    shown_budgets,
    store_data,
    store_table_row,
    system_rows,
    writer_data,
)

PACKAGE_PATTERN = "package/{package}/index.html"


def package_tab(site: Site, indexed: IndexedPackage, tab: str, **context: Any) -> str:
    """A tab of a package: index.html, or one that has a template of its own name."""
    name, first = indexed.package.name, tab == addresses.INDEX
    return site.render(
        "package.html" if first else tab,
        addresses.package(indexed.entry.slug, tab),
        name if first else f"{name}: {tab.removesuffix('.html')}",
        crumbs=site.crumbs(indexed.entry),
        indexed=indexed,
        tab=tab,
        **context,
    )


def render_package(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    indexed = site.package(parts["package"])
    return package_tab(
        site,
        indexed,
        addresses.INDEX,
        weights=indexed.package.weights,
        data=_data(site, indexed),
        query_addresses=[addresses.query(indexed.entry.slug, slug) for slug in indexed.query_slugs],
    )


def _data(site: Site, indexed: IndexedPackage) -> dict[str, Any]:
    known = system_stores(site.library, indexed)
    names = Counter(system.store.name for system in known)
    systems = [
        {
            "name": system.entry.slug,
            "system": shown(store.origin.system),
            "label": shown(store.name + f", {system.entry.place}" * (names[store.name] > 1), 80),
        }
        for system in known
        for store in [system.store]
    ]
    data = {
        **package_data(indexed),
        "writers": [writer_data(member) for member in runnable_writers().values()],
        "rows": run_rows_data(indexed, site.rows(indexed)),
        "systems": systems,
    }
    if site.bundled:
        data |= _bundled(site, indexed, known)
    return data


def _bundled(site: Site, indexed: IndexedPackage, systems: Iterable[SystemStore]) -> dict[str, Any]:
    """What a served page would ask for: the frontier, and stores at some budgets."""
    frontier = site.frontier(indexed)
    first = first_budget(frontier)  # what is not written in time is missing at the others
    return {
        "frontier": frontier_data(indexed, frontier),
        "computed": {
            number_text(budget): _written(site, indexed, budget)
            for budget in sorted(shown_budgets(frontier), key=lambda budget: budget != first)
        },
        "system_stores": {
            system.entry.slug: store_data(indexed, system_store(indexed, system))
            for system in systems
        },
    }


def _written(site: Site, indexed: IndexedPackage, budget: Fraction) -> dict[str, Any]:
    """What every writer keeps at a budget, without those for which the time was up."""
    stores = {}
    for name, member in runnable_writers().items():
        site.tell(f"{indexed.package.name}: {member.label} at {number_text(budget)}")
        store = site.optima(indexed).written_within(name, budget)
        if store is not None:
            stores[name] = store_data(indexed, store)
    return stores


def answer_frontier(site: Site, parts: PathParams, params: QueryParams) -> Any:  # noqa: ARG001
    """What is known of OPT after a little more solving."""
    indexed = site.package(parts["package"])
    frontier = site.frontier(indexed)
    spent = site.optima(indexed).search.spent
    return {**frontier_data(indexed, frontier), "spent": round(spent, 1)}


def answer_store(site: Site, parts: PathParams, params: QueryParams) -> Any:
    """What a writer keeps at a budget, or what a system wrote."""
    indexed = site.package(parts["package"])
    if "system" in params:
        return store_data(indexed, _system(site, indexed, params["system"]))
    store = site.optima(indexed).written_by(params.get("writer", ""), budget_param(params))
    return store_data(indexed, store)


def budget_param(params: QueryParams) -> Fraction:
    try:
        budget = exact(params.get("budget", ""))
    except ValueError:
        raise MemAuditError("the budget must be a number of at least 0") from None
    if budget < 0:
        raise MemAuditError("the budget must be a number of at least 0")
    return budget


def _system(site: Site, indexed: IndexedPackage, slug: str) -> ComparableStore:
    for system in system_stores(site.library, indexed):
        if system.entry.slug == slug:
            return system_store(indexed, system)
    raise NotInLibrary("no such store was written for this package")


PACKAGE_PAGE = Page(PACKAGE_PATTERN, render_package, "package")
PACKAGE_DATA = (
    JsonEndpoint("package/{package}/frontier.json", answer_frontier),
    JsonEndpoint("package/{package}/store.json", answer_store),
)


STREAM_PATTERN = "package/{package}/stream.html"


def render_stream(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    indexed = site.package(parts["package"])
    weights = [indexed.package.weights[unit.id] for unit in indexed.units]
    return package_tab(
        site,
        indexed,
        "stream.html",
        covered=[
            (len(row), sum(weights[unit] * cell.value for unit, cell in row))
            for row in indexed.cells
        ],
    )


STREAM_PAGE = Page(STREAM_PATTERN, render_stream, "package")


COVERAGE_PATTERN = "package/{package}/coverage.html"
MOST_COVERERS = 20
"""If more candidates cover a unit, the cheapest are listed. The query's page lists them all."""


def render_coverage(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    indexed = site.package(parts["package"])
    required: dict[str, list[str]] = {unit.id: [] for unit in indexed.units}
    for slug, query in indexed.query_slugs.items():
        for unit in dict.fromkeys(query.required):
            required[unit].append(slug)
    return package_tab(
        site,
        indexed,
        "coverage.html",
        weights=indexed.package.weights,
        most=MOST_COVERERS,
        cells=sum(len(row) for row in indexed.cells),
        wholes=[_whole_row(whole, indexed, required) for whole in whole_units(indexed.units)],
        data={
            **package_data(indexed),
            "words": _words(indexed),
            "unit_anchors": [anchor("units", unit.id) for unit in indexed.units],
        },
    )


@dataclass(frozen=True, slots=True)
class WholeRow:
    """A unit, or a statement with its parts, and the share that each candidate keeps of it."""

    whole: WholeUnit
    weight: Fraction
    asked: str
    """The address of the first query that requires it, or empty."""
    parts: tuple[tuple[EvidenceUnit, str, int], ...]
    """Every part, its words, and how many candidates keep it."""
    coverers: tuple[tuple[int, Fraction], ...]
    """Places of candidates with what they keep, the cheapest first."""


def _whole_row(
    whole: WholeUnit, indexed: IndexedPackage, required: Mapping[str, Sequence[str]]
) -> WholeRow:
    asked = next((slug for unit in whole.units for slug in required[unit.id]), "")
    weights = indexed.package.weights
    weight = sum((weights[unit.id] for unit in whole.units), Fraction(0))
    cells = whole_cells(whole, indexed)
    coverers = tuple((place, kept_share(whole, own)) for place, own in cells)
    if not whole.has_parts:
        return WholeRow(whole, weight, asked, (), coverers)
    keepers = Counter(unit for _, own in cells for unit in own)
    parts = zip(whole.units, whole.parts, strict=True)
    listed = tuple((unit, words, keepers[unit.id]) for unit, (_, words) in parts)
    return WholeRow(whole, weight, asked, listed, coverers)


def whole_cells(
    whole: WholeUnit, indexed: IndexedPackage
) -> tuple[tuple[int, dict[str, Coverage]], ...]:
    """Places of candidates that cover some of it, the cheapest first, with their cells by unit."""
    cells: dict[int, dict[str, Coverage]] = {}
    for unit in whole.units:
        for place, cell in indexed.coverers[indexed.unit_at[unit.id]]:
            cells.setdefault(place, {})[unit.id] = cell
    order = sorted(cells, key=lambda place: (indexed.candidates[place].cost, place))
    return tuple((place, cells[place]) for place in order)


def kept_share(whole: WholeUnit, cells: Mapping[str, Coverage]) -> Fraction:
    """How much of it cells keep."""
    return sum(
        (unit.share * cells[unit.id].value for unit in whole.units if unit.id in cells), Fraction(0)
    )


def _words(indexed: IndexedPackage) -> list[list[Any]]:
    """Remarks on cells: candidate, unit, label, rationale, provenance."""
    remarks = []
    for place, row in enumerate(indexed.cells):
        for unit, cell in row:
            if cell.label or cell.rationale or cell.provenance:
                words = [shown(text) for text in (cell.label, cell.rationale, cell.provenance)]
                remarks.append([place, unit, *words])
    return remarks


COVERAGE_PAGE = Page(COVERAGE_PATTERN, render_coverage, "package")


STORES_PATTERN = "package/{package}/stores.html"
MOST_LISTED = 40
"""Longer lists of memories are cut, with a note."""


def render_stores(site: Site, parts: PathParams, params: QueryParams) -> str:
    """Writers are run until the time is up. They go on, and a later visit shows their stores."""
    until = math.inf if site.bundled else time.monotonic() + site.seconds
    indexed = site.package(parts["package"])
    frontier = site.frontier(indexed)
    budget = budget_param(params) if "budget" in params else first_budget(frontier)
    optima = site.optima(indexed)
    optimum = optima.optimum(budget)
    best = _opt_store(indexed, optimum)
    rows = run_rows(indexed, best, site.rows(indexed))
    ran = {row.member.name for row in rows}
    for name, member in runnable_writers().items():
        if name not in ran:
            store = optima.written_within(name, budget, until - time.monotonic())
            rows.append(store_table_row(indexed, best, member, store))
    systems = system_rows(indexed, best, system_stores(site.library, indexed), site.store_look)
    return package_tab(
        site,
        indexed,
        "stores.html",
        frontier=frontier,
        budgets=shown_budgets(frontier),
        budget=budget,
        best=optimum,
        opt=best.store,
        most=MOST_LISTED,
        systems=sorted(systems, key=lambda row: row.rank),
        writers=sorted(rows, key=lambda row: row.rank),
        waiting=sum(row.store is None for row in rows),
    )


def _opt_store(indexed: IndexedPackage, optimum: Optimum) -> OptStore:
    store = indexed.candidate_store("OPT", optimum.store)
    value = store.value(indexed.package) if optimum.certified else Fraction(0)
    return OptStore(store, optimum.budget, value)


STORES_PAGE = Page(STORES_PATTERN, render_stores, "package")

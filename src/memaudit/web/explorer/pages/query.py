"""The cheapest store that covers a query as far as the package's candidates can, exactly."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from memaudit.core.objective import value
from memaudit.core.package import Package, Query
from memaudit.solvers.solve import PackageSolver
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.package import package_crumbs

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site


MOST_CANDIDATES = 150
SECONDS = 1.0
"""Beyond these the search could take long; the page then gives no cost."""


@dataclass(frozen=True, slots=True)
class Cover:
    """What covering a query costs at least. `whole` if all of every unit can be covered."""

    cost: Fraction
    store: tuple[str, ...]
    whole: bool


def cheapest(opened: Opened, query: Query) -> Cover | None:
    """The cheapest store that is worth as much for this query as any; None where it is not proven.

    The package with this query's units alone is solved at ever smaller budgets, until its value
    falls.
    """
    part = _only(opened, query)
    if part is None or len(part.candidates) > MOST_CANDIDATES:
        return None
    solver = PackageSolver(part)
    found = solver.solve(part.total_cost(part.candidate), seconds=SECONDS)
    best = found
    grain = Fraction(1, solver.form.cost_scale)
    while found.certified and found.value == best.value and found.cost > 0:
        best = found
        found = solver.solve(found.cost - grain, seconds=SECONDS)
    if not found.certified:
        return None
    best = found if found.value == best.value else best
    everything = sum(
        (unit.response.at(unit.response.saturates_at or Fraction(1)).low * part.weights[unit.id]
         for unit in part.units), Fraction(0),
    )  # fmt: skip
    return Cover(best.cost, best.store, value(part, best.store).low >= everything)


def _only(opened: Opened, query: Query) -> Package | None:
    """The package with nothing but what this query requires; None where no candidate helps."""
    units = tuple(
        unit.model_copy(update={"weight": Fraction(1)})
        for unit in opened.units
        if unit.id in query.required
    )
    places = sorted({
        place for unit in units for place, _ in opened.coverers[opened.unit_at[unit.id]]
    })  # fmt: skip
    if not places:
        return None
    ids = {opened.candidates[place].id for place in places}
    return opened.package.replace(
        candidates=tuple(opened.candidates[place] for place in places),
        units=units,
        queries=(),
        coverage=tuple(
            cell
            for cell in opened.package.coverage
            if cell.candidate in ids and cell.unit in query.required
        ),
    )


QUERY_PATTERN = "package/{package}/query/{query}.html"


def queries(site: "Site", parts: Parts) -> Iterable[Parts]:
    """Every query of a package."""
    return [{**parts, "query": slug} for slug in site.package(parts["package"]).query_slugs]


def render_query(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    opened = site.package(parts["package"])
    query = opened.query_slugs.get(parts["query"])
    if query is None:
        raise NotHere("the package has no such query")
    slugs = list(opened.query_slugs)
    at = slugs.index(parts["query"])
    slug = opened.found.slug
    units = [opened.unit_at[id] for id in dict.fromkeys(query.required)]
    return site.render(
        "query.html", addresses.query(slug, parts["query"]), _title(query),
        crumbs=(*package_crumbs(opened, site), (opened.package.name, addresses.package(slug))),
        opened=opened, query=query,
        units=units, helped=any(opened.coverers[place] for place in units),
        weights=opened.package.weights, cover=cheapest(opened, query), tab="",
        before=addresses.query(slug, slugs[at - 1]) if at else "",
        after=addresses.query(slug, slugs[at + 1]) if at + 1 < len(slugs) else "",
        number=at + 1, count=len(slugs),
    )  # fmt: skip


def _title(query: Query) -> str:
    return query.text or query.id


QUERY_PAGE = Page(QUERY_PATTERN, render_query, "package", queries)

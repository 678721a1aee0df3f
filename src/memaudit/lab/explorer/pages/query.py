"""A query: its required units, and the candidates that cover them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from memaudit.kernel.package.package import Query
from memaudit.kernel.package.unit_parts import WholeUnit, whole_units
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.library.packages import IndexedPackage
from memaudit.lab.explorer.pages.package import kept_share, whole_cells
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.parts import neighbours


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
    return site.render(
        "query.html",
        addresses.query(slug, parts["query"]),
        query.text or query.id,
        crumbs=site.crumbs(indexed.entry, inside=True),
        indexed=indexed,
        query=query,
        rows=rows,
        tab="",
        **neighbours(slugs, slugs.index(parts["query"]), partial(addresses.query, slug)),
    )


QUERY_PAGE = Page(QUERY_PATTERN, render_query, "package", queries)

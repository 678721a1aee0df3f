"""A package at a glance, its whole stream, and its coverage matrix."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.web.explorer import addresses
from memaudit.web.explorer.addresses import anchor
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.pages.kind import Asked, Data, Page, Parts
from memaudit.web.explorer.views.optima import runnable
from memaudit.web.explorer.views.package_data import number_text, package_data, shown
from memaudit.web.explorer.views.package_stores import systems_of
from memaudit.web.explorer.views.store_comparison import Held, of_system
from memaudit.web.explorer.views.store_rows import (
    frontier_data,
    held_data,
    rows_data,
    spread,
    writer_data,
)

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site


PACKAGE_PATTERN = "package/{package}/index.html"
MOST_BUDGETS = 12
"""Budgets at which a bundle holds the store of every writer."""


def package_crumbs(opened: Opened, site: "Site") -> tuple[tuple[str, str], ...]:
    """The way back: to the run that a package belongs to, or to the list of packages."""
    run = opened.found.text("run")
    if run:
        return (
            ("Runs", addresses.INDEX + "#runs"),
            (site.library.named("run", run).name, addresses.run(run, "packages.html")),
        )
    return (("Packages", addresses.INDEX + "#packages"),)


def render_package(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    opened = site.package(parts["package"])
    address = addresses.package(opened.found.slug)
    return site.render(
        "package.html", address, opened.package.name, crumbs=package_crumbs(opened, site),
        opened=opened, tab="index.html", weights=opened.package.weights, data=_data(site, opened),
        query_addresses=[addresses.query(opened.found.slug, slug) for slug in opened.query_slugs],
    )  # fmt: skip


def _data(site: "Site", opened: Opened) -> dict[str, Any]:
    known = systems_of(site.library, opened)
    names = Counter(store.name for _, store in known)
    systems = [
        {"name": found.slug, "system": shown(store.origin.system),
         "label": shown(store.name + f", {found.place}" * (names[store.name] > 1), 80)}
        for found, store in known
    ]  # fmt: skip
    data = {
        **package_data(opened),
        "writers": [writer_data(member) for member in runnable().values()],
        "rows": rows_data(opened, site.rows(opened)),
        "systems": systems,
    }
    if site.bundled:
        data |= _bundled(site, opened, [system["name"] for system in systems])
    return data


def _bundled(site: "Site", opened: Opened, systems: Iterable[str]) -> dict[str, Any]:
    """What a served page would ask for: the frontier, and stores at some budgets."""
    workshop = site.workshop(opened)
    frontier = site.frontier(opened)
    budgets = spread([step.budget for step in frontier.steps], frontier.given, MOST_BUDGETS)
    return {
        "frontier": frontier_data(opened, frontier),
        "computed": {
            number_text(budget): {
                name: held_data(opened, workshop.written_by(name, budget)) for name in runnable()
            }
            for budget in budgets
        },
        "held": {slug: held_data(opened, _system(site, opened, slug)) for slug in systems},
    }


def answer_frontier(site: "Site", parts: Parts, asked: Asked) -> Any:  # noqa: ARG001
    """What is known of OPT after a little more work."""
    opened = site.package(parts["package"])
    found = site.frontier(opened)
    spent = site.workshop(opened).search.spent
    return {**frontier_data(opened, found), "spent": round(spent, 1)}


def answer_store(site: "Site", parts: Parts, asked: Asked) -> Any:
    """What a writer keeps at a budget, or what a system wrote."""
    opened = site.package(parts["package"])
    if "system" in asked:
        return held_data(opened, _system(site, opened, asked["system"]))
    held = site.workshop(opened).written_by(asked.get("writer", ""), budget_asked(asked))
    return held_data(opened, held)


def budget_asked(asked: Asked) -> Fraction:
    """The budget in an address."""
    try:
        budget = exact(asked.get("budget", ""))
    except ValueError:
        raise MemAuditError("a budget is a number of 0 or more") from None
    if budget < 0:
        raise MemAuditError("a budget is a number of 0 or more")
    return budget


def _system(site: "Site", opened: Opened, slug: str) -> Held:
    for found, store in systems_of(site.library, opened):
        if found.slug == slug:
            try:
                return of_system(opened, store)
            except MemAuditError as error:
                return Held(store.name, (), str(error), True)
    raise NotHere("no such store was written for this package")


PACKAGE_PAGE = Page(PACKAGE_PATTERN, render_package, "package")
PACKAGE_DATA = (
    Data("package/{package}/frontier.json", answer_frontier),
    Data("package/{package}/store.json", answer_store),
)


STREAM_PATTERN = "package/{package}/stream.html"


def render_stream(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    opened = site.package(parts["package"])
    weights = [opened.package.weights[unit.id] for unit in opened.units]
    return site.render(
        "stream.html", addresses.package(opened.found.slug, "stream.html"),
        f"{opened.package.name}: stream", crumbs=package_crumbs(opened, site), opened=opened,
        tab="stream.html", kind_at={kind: at for at, kind in enumerate(opened.kinds, 1)},
        covered=[
            (len(row), sum(weights[unit] * cell.value for unit, cell in row))
            for row in opened.cells
        ],
    )  # fmt: skip


STREAM_PAGE = Page(STREAM_PATTERN, render_stream, "package")


COVERAGE_PATTERN = "package/{package}/coverage.html"
MOST_COVERERS = 20
"""Of more candidates that cover a unit the cheapest are listed; the query's page lists them all."""


def render_coverage(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    opened = site.package(parts["package"])
    required: dict[str, list[str]] = {unit.id: [] for unit in opened.units}
    for slug, query in opened.query_slugs.items():
        for unit in dict.fromkeys(query.required):
            required[unit].append(slug)
    return site.render(
        "coverage.html", addresses.package(opened.found.slug, "coverage.html"),
        f"{opened.package.name}: coverage", crumbs=package_crumbs(opened, site), opened=opened,
        tab="coverage.html", weights=opened.package.weights, most=MOST_COVERERS,
        required=required, cells=sum(len(row) for row in opened.cells),
        data={
            **package_data(opened), "words": _words(opened),
            "unit_anchors": [anchor("units", unit.id) for unit in opened.units],
        },
    )  # fmt: skip


def _words(opened: Opened) -> list[list[Any]]:
    """What was said about cells: candidate, unit, label, rationale, who said it."""
    said = []
    for place, row in enumerate(opened.cells):
        for unit, cell in row:
            if cell.label or cell.rationale or cell.provenance:
                words = [shown(text) for text in (cell.label, cell.rationale, cell.provenance)]
                said.append([place, unit, *words])
    return said


COVERAGE_PAGE = Page(COVERAGE_PATTERN, render_coverage, "package")

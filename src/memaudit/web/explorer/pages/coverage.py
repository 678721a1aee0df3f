"""The coverage matrix: a heat map for scripts, a table by unit for everybody."""

from typing import TYPE_CHECKING, Any

from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.package import crumbs
from memaudit.web.explorer.slugs import anchor
from memaudit.web.explorer.views.package_data import package_data, shown

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "package/{package}/coverage.html"
MOST_COVERERS = 20
"""Of more candidates that cover a unit the cheapest are listed; the query's page lists them all."""


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    opened = site.package(parts["package"])
    required: dict[str, list[str]] = {unit.id: [] for unit in opened.units}
    for slug, query in opened.query_slugs.items():
        for unit in dict.fromkeys(query.required):
            required[unit].append(slug)
    return site.render(
        "coverage.html", addresses.package(opened.found.slug, "coverage.html"),
        f"{opened.package.name}: coverage", crumbs=crumbs(opened, site), opened=opened,
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


PAGE = Page(PATTERN, render, "package")

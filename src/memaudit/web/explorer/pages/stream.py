"""The stream in full: every experience, and under it the candidates that could be stored."""

from typing import TYPE_CHECKING

from memaudit.web.explorer import addresses
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.package import crumbs

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "package/{package}/stream.html"


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    opened = site.package(parts["package"])
    weights = [opened.package.weights[unit.id] for unit in opened.units]
    return site.render(
        "stream.html", addresses.package(opened.found.slug, "stream.html"),
        f"{opened.package.name}: stream", crumbs=crumbs(opened, site), opened=opened,
        tab="stream.html", kind_at={kind: at for at, kind in enumerate(opened.kinds, 1)},
        covered=[
            (len(row), sum(weights[unit] * cell.value for unit, cell in row))
            for row in opened.cells
        ],
    )  # fmt: skip


PAGE = Page(PATTERN, render, "package")

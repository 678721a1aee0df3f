"""The first page: everything in the library, and what could not be read."""

from typing import TYPE_CHECKING

from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.entries import KINDS
from memaudit.web.explorer.page import Page, PathParams, QueryParams

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

MOST_LISTED = 5000
"""Entries listed per kind. If there are more, the page says so, and search finds them."""

TITLES = {
    "run": "Runs", "package": "Packages", "store": "Stores", "scores": "Score files",
    "frame": "Audit frames", "diagnosis": "Diagnoses", "certificate": "Certificates",
}  # fmt: skip


def render_index(site: "Site", parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    groups = [(kind, site.library.of(kind)) for kind in KINDS]
    return site.render(
        "index.html", addresses.INDEX, "What is here",
        groups=[(kind, TITLES[kind], entries) for kind, entries in groups if entries],
        unreadable=site.library.unreadable, most=MOST_LISTED, crumbs=(),
    )  # fmt: skip


INDEX_PAGE = Page(addresses.INDEX, render_index)

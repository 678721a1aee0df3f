"""Pages of label audits: the tables of the report, and every disputed cell with links."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.package_data import package_links
from memaudit.lab.labels.agreement_file import DisputedCell
from memaudit.lab.labels.label_audit_page import LabelAudit

MOST_CELLS = 500
"""Disputed cells on the page, the most disputed first. If there are more, the page says so."""
MOST_LINKED = 24
"""Packages that are opened for links."""


@dataclass(frozen=True, slots=True)
class LinkedDispute:
    """A disputed cell, with links to its memory and unit if the library has their package."""

    cell: DisputedCell
    candidate: str | None = None
    unit: str | None = None


def audit_context(library: Library, audit: LabelAudit | None) -> dict[str, Any]:
    """The context of the template. Disputed cells are in a table of their own, with links."""
    disputed = audit.agreement.disputed if audit and audit.agreement else []
    return {
        "audit": audit,
        "lists_disputed": False,
        "disputed": _linked(library, disputed[:MOST_CELLS]),
        "disputes": len(disputed),
    }


def _linked(library: Library, cells: Sequence[DisputedCell]) -> list[LinkedDispute]:
    names = list(dict.fromkeys(cell.package for cell in cells))[:MOST_LINKED]
    links = {name: package_links(library, name) for name in names}
    return [
        LinkedDispute(
            cell,
            links[cell.package].candidate(cell.candidate_id),
            links[cell.package].unit(cell.unit_id),
        )
        if cell.package in links
        else LinkedDispute(cell)
        for cell in cells
    ]


FRAME_PATTERN = "frame/{frame}.html"


def render_frame(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("frame", parts["frame"])
    return _frame(site, entry) if entry.path.is_dir() else _file(site, entry)


def _frame(site: Site, entry: LibraryEntry) -> str:
    """While a frame is being labelled, neither cells nor labels are shown."""
    labelled = site.library.labelled_frame(entry)
    tell = site.library.without_paths
    return site.render(
        "frame.html",
        addresses.frame(entry.slug),
        entry.name,
        crumbs=site.crumbs(entry),
        entry=entry,
        labelled=labelled,
        problem=tell(labelled.problem),
        left_out=[(name, tell(why)) for name, why in labelled.labels.left_out],
        **audit_context(site.library, labelled.audit),
    )


def _file(site: Site, entry: LibraryEntry) -> str:
    """What `memaudit audit agreement --json` or `audit ratios --json` wrote."""
    tables = site.library.label_audit(entry)
    return site.render(
        "audit.html",
        addresses.frame(entry.slug),
        entry.name,
        crumbs=site.crumbs(entry),
        entry=entry,
        **audit_context(site.library, tables),
    )


FRAME_PAGE = Page(FRAME_PATTERN, render_frame, "frame")

"""A label audit as its pages show it: the house's tables, and every disputed cell with links."""

from dataclasses import dataclass, replace
from typing import Any

from memaudit.report.labels.tables import SCALES, LabelAudit
from memaudit.web.explorer.library.label_audits import AuditTables, Dispute
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.views.package_links import package_links

MOST_CELLS = 500
"""Disputed cells on the page; they come with the most disputed first, and a cut is told."""
MOST_LINKED = 24
"""Packages that are opened for links."""


class Scales(dict[str, str]):
    """Scales in words; one that only a later version knows goes by its name."""

    def __missing__(self, name: str) -> str:
        return name


@dataclass(frozen=True, slots=True)
class LinkedDispute:
    """A disputed cell, and where its memory and its unit stand if their package is here."""

    cell: Dispute
    candidate: str | None = None
    unit: str | None = None


def audit_context(library: Library, found: AuditTables | None) -> dict[str, Any]:
    """What the template takes. Disputed cells come in a table of their own, instead of the few in
    the house's."""
    if found is None:
        return {"audit": None}
    tables = found.tables
    if tables.agreement is not None:
        tables = LabelAudit(replace(tables.agreement, disputed=()), tables.ratios)
    disputed = found.agreement.disputed if found.agreement else ()
    return {
        "audit": tables, "scales": Scales(SCALES), "details": True, "agreement": found.agreement,
        "disputed": _linked(library, disputed[:MOST_CELLS]), "disputes": len(disputed),
    }  # fmt: skip


def _linked(library: Library, cells: tuple[Dispute, ...]) -> list[LinkedDispute]:
    names = list(dict.fromkeys(cell.package for cell in cells))[:MOST_LINKED]
    links = {name: package_links(library, name) for name in names}
    return [
        LinkedDispute(
            cell, links[cell.package].candidate(cell.candidate_id),
            links[cell.package].unit(cell.unit_id),
        )
        if cell.package in links
        else LinkedDispute(cell)
        for cell in cells
    ]  # fmt: skip

"""A label audit: a frame with its labels, blind until they are done, or a file of an audit."""

from typing import TYPE_CHECKING

from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.audit_tables import audit_context

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "frame/{frame}.html"
CRUMBS = (("Audit frames", addresses.INDEX + "#audit-frames"),)


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    found = site.library.named("frame", parts["frame"])
    return _frame(site, found) if found.path.is_dir() else _file(site, found)


def _frame(site: "Site", found: Found) -> str:
    """Of a frame that is being labelled neither cells nor labels are shown."""
    labelled = site.library.labelled_frame(found)
    tell = site.library.without_paths
    return site.render(
        "frame.html", addresses.frame(found.slug), found.name, crumbs=CRUMBS, found=found,
        labelled=labelled, problem=tell(labelled.problem),
        left_out=[(name, tell(why)) for name, why in labelled.labels.left_out],
        **audit_context(site.library, labelled.audit),
    )  # fmt: skip


def _file(site: "Site", found: Found) -> str:
    """What `memaudit audit agreement --json` or `audit ratios --json` wrote."""
    tables = site.library.label_audit(found)
    return site.render(
        "audit.html", addresses.frame(found.slug), found.name, crumbs=CRUMBS, found=found,
        **audit_context(site.library, tables),
    )  # fmt: skip


PAGE = Page(PATTERN, render, "frame")

"""The proofs of a package's optima: how large they are, and what the checker says of them."""

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from memaudit.report.page.proof import certificate_text, package_text
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.package import crumbs
from memaudit.web.explorer.views.proving import budget_of, budget_slug, proven
from memaudit.web.explorer.views.store_data import spread

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

MOST_BUDGETS = 6


def budgets(site: "Site", opened: Opened) -> list[Fraction]:
    """The budgets whose proofs are shown: those given, then some along the frontier."""
    frontier = site.frontier(opened)
    return spread([step.budget for step in frontier.steps], frontier.given, MOST_BUDGETS)


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page; a bundle has every certificate checked while it is written."""
    opened = site.package(parts["package"])
    workshop = site.workshop(opened)
    rows = []
    for budget in budgets(site, opened):
        best = workshop.optimum(budget)
        found = best.certificate and proven(
            best.certificate, opened.found, opened.package, site.bundled, best
        )
        rows.append((best, found, budget_slug(budget)))
    return site.render(
        "proofs.html", addresses.package(opened.found.slug, "proofs.html"),
        f"{opened.package.name}: proofs", crumbs=crumbs(opened, site), opened=opened,
        tab="proofs.html", rows=rows,
    )  # fmt: skip


def certificates(site: "Site", parts: Parts) -> Iterable[Parts]:
    """Every certificate of the page above, as a file."""
    opened = site.package(parts["package"])
    for budget in budgets(site, opened):
        if site.workshop(opened).optimum(budget).certificate:
            yield {**parts, "budget": budget_slug(budget)}


def certificate_file(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """A certificate as one JSON file."""
    opened = site.package(parts["package"])
    budget = budget_of(parts["budget"])
    best = None if budget is None else site.workshop(opened).optimum(budget)
    if best is None or best.certificate is None:
        raise NotHere("there is no certificate for this budget")
    return certificate_text(best.certificate) + "\n"


def package_file(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The package as one JSON file."""
    return package_text(site.package(parts["package"]).package)


PAGE = Page("package/{package}/proofs.html", render, "package")
PACKAGE = Page("package/{package}/package.json", package_file, "package")
CERTIFICATE = Page(
    "package/{package}/certificate/{budget}.json", certificate_file, "package", certificates
)

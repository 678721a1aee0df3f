"""Certificates of a file or of a package's optima, and the checker's verdict."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from memaudit.checker import Verdict, verify
from memaudit.core.optimum import Certificate, Optimum
from memaudit.core.package import Package
from memaudit.experiments.evaluate import certificate_hash
from memaudit.report.run_report.proof import certificate_text, package_text
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.entries import Found
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.package import package_crumbs
from memaudit.web.explorer.views.package_data import number_text, shown
from memaudit.web.explorer.views.store_rows import spread

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site


@dataclass(frozen=True, slots=True)
class Proven:
    """A certificate and what is known of it; `optimum` if it was solved here, `verdict` if it was
    checked for this page."""

    certificate: Certificate
    bytes: int
    sha256: str
    package: Found | None
    optimum: Optimum | None = None
    verdict: Verdict | None = None
    seconds: float = 0.0


def proven(
    certificate: Certificate,
    found: Found | None,
    package: Package | None,
    check: bool,
    optimum: Optimum | None = None,
) -> Proven:
    """A certificate, checked where that is asked for and its package is known."""
    size, code = len(certificate_text(certificate)), certificate_hash(certificate)
    if not check or package is None:
        return Proven(certificate, size, code, found, optimum)
    started = time.perf_counter()
    verdict = verify(package, certificate)
    return Proven(certificate, size, code, found, optimum, verdict, time.perf_counter() - started)


def verdict_data(one: Proven) -> dict[str, Any]:
    """What the verify button is told."""
    verdict = one.verdict
    if verdict is None:
        return {"valid": False, "reason": "its package is not in the library", "leaves": 0}
    return {
        "valid": verdict.valid,
        "reason": shown(verdict.reason),
        "leaves": verdict.leaves,
        "value": number_text(one.certificate.value),
        "budget": number_text(one.certificate.budget),
        "seconds": round(one.seconds, 4),
    }


def budget_slug(budget: Fraction) -> str:
    """A budget in an address: 12, or 7-over-2."""
    return str(budget).replace("/", "-over-")


def budget_of(slug: str) -> Fraction | None:
    """The budget of an address."""
    top, _, bottom = slug.partition("-over-")
    if not (top.isdecimal() and (bottom or "1").isdecimal()) or max(len(top), len(bottom)) > 60:
        return None
    return Fraction(int(top), int(bottom or "1")) if int(bottom or "1") else None


CERTIFICATE_PATTERN = "certificate/{certificate}.html"
MOST_SHOWN = 500
"""Of a longer file the first are shown, and the page says so."""


def render_certificate(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page; a bundle has every certificate checked while it is written."""
    found = site.library.named("certificate", parts["certificate"])
    known = site.library.certificates(found)
    return site.render(
        "certificate.html", addresses.certificate(found.slug), found.name,
        crumbs=(("Certificates", addresses.INDEX + "#certificates"),), found=found,
        rows=[checked(site, one, site.bundled) for one in known[:MOST_SHOWN]], count=len(known),
    )  # fmt: skip


def checked(site: "Site", certificate: Certificate, check: bool) -> Proven:
    """A certificate with its package, where the library holds that."""
    found = site.library.with_digest(certificate.package)
    package = site.library.package(found).package if found and check else None
    return proven(certificate, found, package, check)


def numbered(site: "Site", slug: str, number: int) -> Certificate:
    """One certificate of a file, counted from 1."""
    known = site.library.certificates(site.library.named("certificate", slug))
    if not 1 <= number <= len(known):
        raise NotHere(f"the file has no certificate {number}")
    return known[number - 1]


CERTIFICATE_PAGE = Page(CERTIFICATE_PATTERN, render_certificate, "certificate")


MOST_BUDGETS = 6


def budgets(site: "Site", opened: Opened) -> list[Fraction]:
    """The budgets whose proofs are shown: those given, then some along the frontier."""
    frontier = site.frontier(opened)
    return spread([step.budget for step in frontier.steps], frontier.given, MOST_BUDGETS)


def render_proofs(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
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
        f"{opened.package.name}: proofs", crumbs=package_crumbs(opened, site), opened=opened,
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


PROOFS_PAGE = Page("package/{package}/proofs.html", render_proofs, "package")
PACKAGE = Page("package/{package}/package.json", package_file, "package")
CERTIFICATE = Page(
    "package/{package}/certificate/{budget}.json", certificate_file, "package", certificates
)

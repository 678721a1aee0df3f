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
from memaudit.web.explorer.library.entries import LibraryEntry
from memaudit.web.explorer.library.indexed_package import IndexedPackage
from memaudit.web.explorer.library.library import NotInLibrary
from memaudit.web.explorer.page import Page, PathParams, QueryParams
from memaudit.web.explorer.pages.package import package_crumbs
from memaudit.web.explorer.views.package_data import number_text, shown
from memaudit.web.explorer.views.store_table import chosen_budgets

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site


@dataclass(frozen=True, slots=True)
class CheckedCertificate:
    """A certificate: with its optimum if it was solved here, and the verdict if it was checked."""

    certificate: Certificate
    bytes: int
    sha256: str
    package: LibraryEntry | None
    optimum: Optimum | None = None
    verdict: Verdict | None = None
    seconds: float = 0.0


def proven(
    certificate: Certificate,
    entry: LibraryEntry | None,
    package: Package | None,
    check: bool,
    optimum: Optimum | None = None,
) -> CheckedCertificate:
    """A certificate, verified on request if its package is known."""
    size, code = len(certificate_text(certificate)), certificate_hash(certificate)
    if not check or package is None:
        return CheckedCertificate(certificate, size, code, entry, optimum)
    started = time.perf_counter()
    verdict = verify(package, certificate)
    return CheckedCertificate(
        certificate, size, code, entry, optimum, verdict, time.perf_counter() - started
    )


def verdict_data(proof: CheckedCertificate) -> dict[str, Any]:
    """The answer to the verify button."""
    verdict = proof.verdict
    if verdict is None:
        return {"valid": False, "reason": "its package is not in the library", "leaves": 0}
    return {
        "valid": verdict.valid,
        "reason": shown(verdict.reason),
        "leaves": verdict.leaves,
        "value": number_text(proof.certificate.value),
        "budget": number_text(proof.certificate.budget),
        "seconds": round(proof.seconds, 4),
    }


def budget_slug(budget: Fraction) -> str:
    """A budget in an address: 12, or 7-over-2."""
    return str(budget).replace("/", "-over-")


def budget_of(slug: str) -> Fraction | None:
    top, _, bottom = slug.partition("-over-")
    if not (top.isdecimal() and (bottom or "1").isdecimal()) or max(len(top), len(bottom)) > 60:
        return None
    return Fraction(int(top), int(bottom or "1")) if int(bottom or "1") else None


CERTIFICATE_PATTERN = "certificate/{certificate}.html"
MOST_SHOWN = 500
"""Only the first certificates of a longer file are shown, with a note."""


def render_certificate(site: "Site", parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    """A bundle has every certificate checked while it is written."""
    entry = site.library.named("certificate", parts["certificate"])
    known = site.library.certificates(entry)
    return site.render(
        "certificate.html", addresses.certificate(entry.slug), entry.name,
        crumbs=(("Certificates", addresses.INDEX + "#certificates"),), entry=entry,
        rows=[checked(site, certificate, site.bundled) for certificate in known[:MOST_SHOWN]],
        count=len(known),
    )  # fmt: skip


def checked(site: "Site", certificate: Certificate, check: bool) -> CheckedCertificate:
    """A certificate with its package, if the library has it."""
    entry = site.library.with_digest(certificate.package)
    package = site.library.package(entry).package if entry and check else None
    return proven(certificate, entry, package, check)


def numbered(site: "Site", slug: str, number: int) -> Certificate:
    """One certificate of a file, counted from 1."""
    known = site.library.certificates(site.library.named("certificate", slug))
    if not 1 <= number <= len(known):
        raise NotInLibrary(f"the file has no certificate {number}")
    return known[number - 1]


CERTIFICATE_PAGE = Page(CERTIFICATE_PATTERN, render_certificate, "certificate")


MOST_BUDGETS = 6


def budgets(site: "Site", indexed: IndexedPackage) -> list[Fraction]:
    """The budgets whose proofs are shown: those given, then some along the frontier."""
    frontier = site.frontier(indexed)
    return chosen_budgets([step.budget for step in frontier.steps], frontier.given, MOST_BUDGETS)


def render_proofs(site: "Site", parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    """A bundle has every certificate checked while it is written."""
    indexed = site.package(parts["package"])
    optima = site.optima(indexed)
    rows = []
    for budget in budgets(site, indexed):
        best = optima.optimum(budget)
        proof = best.certificate and proven(
            best.certificate, indexed.entry, indexed.package, site.bundled, best
        )
        rows.append((best, proof, budget_slug(budget)))
    return site.render(
        "proofs.html", addresses.package(indexed.entry.slug, "proofs.html"),
        f"{indexed.package.name}: proofs", crumbs=package_crumbs(indexed, site), indexed=indexed,
        tab="proofs.html", rows=rows,
    )  # fmt: skip


def certificates(site: "Site", parts: PathParams) -> Iterable[PathParams]:
    """Every certificate of the proofs page, as a file."""
    indexed = site.package(parts["package"])
    for budget in budgets(site, indexed):
        if site.optima(indexed).optimum(budget).certificate:
            yield {**parts, "budget": budget_slug(budget)}


def certificate_file(site: "Site", parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    indexed = site.package(parts["package"])
    budget = budget_of(parts["budget"])
    best = None if budget is None else site.optima(indexed).optimum(budget)
    if best is None or best.certificate is None:
        raise NotInLibrary("there is no certificate for this budget")
    return certificate_text(best.certificate) + "\n"


def package_file(site: "Site", parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    return package_text(site.package(parts["package"]).package)


PROOFS_PAGE = Page("package/{package}/proofs.html", render_proofs, "package")
PACKAGE = Page("package/{package}/package.json", package_file, "package")
CERTIFICATE = Page(
    "package/{package}/certificate/{budget}.json", certificate_file, "package", certificates
)

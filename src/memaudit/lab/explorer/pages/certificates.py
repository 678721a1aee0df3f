"""Certificates of a file or of a package's optima, and the checker's verdict."""

import math
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.kernel.checker import Verdict, verify
from memaudit.kernel.io.package_folder import MANIFEST
from memaudit.kernel.package.optimum import Certificate, Optimum
from memaudit.kernel.package.package import Package
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.library.packages import IS_OF_RUN, IndexedPackage
from memaudit.lab.explorer.pages.package import package_tab
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.optima import in_background, is_done
from memaudit.lab.explorer.views.package_data import number_text, shown
from memaudit.lab.explorer.views.store_table import shown_budgets
from memaudit.lab.sweeps.runs.report.remade_packages import certificate_text, package_text
from memaudit.lab.sweeps.runs.sweep import certificate_hash


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
    optimum: Optimum | None = None,
    seconds: float = math.inf,
) -> CheckedCertificate:
    """A certificate, with the checker's verdict if its package is given and the time is enough."""
    size, code = len(certificate_text(certificate)), certificate_hash(certificate)
    unchecked = CheckedCertificate(certificate, size, code, entry, optimum)
    if package is None or seconds <= 0:
        return unchecked
    started = time.perf_counter()
    work = in_background(lambda: verify(package, certificate))
    if not is_done(work, seconds):
        return unchecked
    return replace(unchecked, verdict=work.result(), seconds=time.perf_counter() - started)


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


def verify_command(site: Site, package: Path, file: Path) -> tuple[str, str]:
    """The command that checks a file of certificates, and the folder it is run in. If they are in
    two of the given folders, paths begin with the names of these, and there is no such folder."""
    (label, at), (other, certificates) = map(site.library.from_folder, (package, file))
    if label != other:
        label, at, certificates = "", f"{label}/{at}", f"{other}/{certificates}"
    return _command(at, certificates), label


def _command(*paths: str) -> str:
    """`memaudit verify` as a shell takes it, whatever the files are called."""
    safe = (f"./{path}" if path.startswith("-") else path for path in paths)
    return shlex.join(["memaudit", "verify", *safe])


def _packages_path(entries: Sequence[LibraryEntry]) -> Path | None:
    """The path of all packages of a file: of the only one, or of the build that has them all."""
    paths = {entry.path for entry in entries}
    folders = {path.parent for path in paths}
    if len(paths) == 1:
        return paths.pop()
    build = folders.pop() if len(folders) == 1 else None
    return build if build is not None and (build / MANIFEST).is_file() else None


CERTIFICATE_PATTERN = "certificate/{certificate}.html"
MOST_SHOWN = 500
"""Only the first certificates of a longer file are shown, with a note."""


def render_certificate(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    """A bundle has every certificate checked while it is written."""
    entry = site.library.named("certificate", parts["certificate"])
    known = site.library.certificates(entry)
    until = time.monotonic() + site.seconds
    rows = []
    for certificate in known[:MOST_SHOWN]:
        site.tell(f"{entry.name}: checking")
        seconds = until - time.monotonic() if site.bundled else 0.0
        rows.append(checked(site, certificate, seconds))
    packages = _packages_path([row.package for row in rows if row.package])
    return site.render(
        "certificate.html",
        addresses.certificate(entry.slug),
        entry.name,
        verify=verify_command(site, packages, entry.path) if packages else None,
        crumbs=site.crumbs(entry),
        entry=entry,
        rows=rows,
        count=len(known),
    )


def checked(site: Site, certificate: Certificate, seconds: float = math.inf) -> CheckedCertificate:
    """A certificate with its package, if the library has it."""
    entry = site.library.with_digest(certificate.package)
    package = site.library.package(entry).package if entry and seconds > 0 else None
    return proven(certificate, entry, package, seconds=seconds)


def numbered(site: Site, slug: str, number: int) -> Certificate:
    """One certificate of a file, counted from 1."""
    known = site.library.certificates(site.library.named("certificate", slug))
    if not 1 <= number <= len(known):
        raise NotInLibrary(f"the file has no certificate {number}")
    return known[number - 1]


CERTIFICATE_PAGE = Page(CERTIFICATE_PATTERN, render_certificate, "certificate")


def render_proofs(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    """A bundle has every certificate checked while it is written."""
    indexed = site.package(parts["package"])
    optima = site.optima(indexed)
    rows = []
    for budget in shown_budgets(site.frontier(indexed)):
        best = optima.optimum(budget)
        package = indexed.package if site.bundled else None
        with optima.allowance.spend() as seconds:
            proof = best.certificate and proven(
                best.certificate, indexed.entry, package, best, seconds
            )
        rows.append((best, proof, budget_slug(budget)))
    first = next((name for _, proof, name in rows if proof), "")
    return package_tab(
        site,
        indexed,
        "proofs.html",
        rows=rows,
        verify=_download_command(site, indexed, first) if first else None,
    )


def _download_command(site: Site, indexed: IndexedPackage, budget: str) -> tuple[str, str]:
    """The command that checks a certificate of this page, and where it is run: in a bundle, both
    files are part of it. Otherwise the certificate is saved first, and so is the package of a
    run."""
    entry = indexed.entry
    if site.bundled:
        folder = addresses.package(entry.slug, "")
        return _command(f"{folder}package.json", f"{folder}certificate/{budget}.json"), ""
    label, path = site.library.from_folder(entry.path)
    if entry.text(IS_OF_RUN):
        label, path = "", "package.json"
    return _command(path, f"certificate-{budget}.json"), label


def certificates(site: Site, parts: PathParams) -> Iterable[PathParams]:
    """Every certificate of the proofs page, as a file."""
    indexed = site.package(parts["package"])
    for budget in shown_budgets(site.frontier(indexed)):
        if site.optima(indexed).optimum(budget).certificate:
            yield {**parts, "budget": budget_slug(budget)}


def certificate_file(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    indexed = site.package(parts["package"])
    budget = budget_of(parts["budget"])
    best = None if budget is None else site.optima(indexed).optimum(budget)
    if best is None or best.certificate is None:
        raise NotInLibrary("there is no certificate for this budget")
    return certificate_text(best.certificate) + "\n"


def package_file(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    return package_text(site.package(parts["package"]).package)


PROOFS_PAGE = Page("package/{package}/proofs.html", render_proofs, "package")
PACKAGE = Page("package/{package}/package.json", package_file, "package")
CERTIFICATE = Page(
    "package/{package}/certificate/{budget}.json", certificate_file, "package", certificates
)

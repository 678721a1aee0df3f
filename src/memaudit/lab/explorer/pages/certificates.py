"""Certificates of a file or of a package's optima, and the checker's verdict."""

import json
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from memaudit.kernel.checker import Verdict, verify
from memaudit.kernel.io.package_check import header_data, table_data
from memaudit.kernel.io.package_folder import MANIFEST
from memaudit.kernel.io.strict_json import json_text
from memaudit.kernel.package.optimum import Certificate
from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.library.library import NotInLibrary
from memaudit.lab.explorer.pages.package import package_tab
from memaudit.lab.explorer.site import Page, PathParams, QueryParams, Site
from memaudit.lab.explorer.views.optima import in_background, is_done
from memaudit.lab.explorer.views.store_table import shown_budgets
from memaudit.lab.sweeps.runs.sweep import certificate_hash


@dataclass(frozen=True, slots=True)
class CheckedCertificate:
    """A certificate, and the verdict if its package is here and the checker was quick enough."""

    certificate: Certificate
    bytes: int
    sha256: str
    package: LibraryEntry | None
    verdict: Verdict | None = None


def proven(
    site: Site, certificate: Certificate, entry: LibraryEntry | None, seconds: float
) -> CheckedCertificate:
    """A certificate, checked for some seconds. The checker goes on, and a later call gets its
    verdict."""
    code = certificate_hash(certificate)
    unchecked = CheckedCertificate(certificate, len(certificate_text(certificate)), code, entry)
    if entry is None or seconds <= 0:
        return unchecked
    package = site.library.package(entry).package
    # One check for all visits: a hostile proof may take minutes, and must not take them again.
    work = site.made(
        lambda: in_background(lambda: verify(package, certificate)), [entry], "verdict", code
    )
    return replace(unchecked, verdict=work.result()) if is_done(work, seconds) else unchecked


def certificate_text(certificate: Certificate) -> str:
    """The certificate as one JSON file, in the canonical form that is hashed."""
    return json.dumps(certificate.to_json(), sort_keys=True, separators=(",", ":"))


def budget_slug(budget: Fraction) -> str:
    """A budget in an address: 12, or 7-over-2."""
    return str(budget).replace("/", "-over-")


def budget_of(slug: str) -> Fraction | None:
    top, _, bottom = slug.partition("-over-")
    if not (top.isdecimal() and (bottom or "1").isdecimal()) or max(len(top), len(bottom)) > 60:
        return None
    return Fraction(int(top), int(bottom or "1")) if int(bottom or "1") else None


def verify_command(*paths: str) -> str:
    """`memaudit verify` as a shell takes it, whatever the files are called."""
    safe = (f"./{path}" if path.startswith("-") else path for path in paths)
    return shlex.join(["memaudit", "verify", *safe])


def _packages_place(entries: Sequence[LibraryEntry]) -> str:
    """Where all packages of a file are: the only one, or the build that has them all."""
    places = {entry.place: entry.path for entry in entries}
    if len(places) == 1:
        return next(iter(places))
    folders = {place.rpartition("/")[0]: path.parent for place, path in places.items()}
    [(place, folder), *others] = folders.items() or [("", Path())]
    return place if not others and place and (folder / MANIFEST).is_file() else ""


CERTIFICATE_PATTERN = "certificate/{certificate}.html"
MOST_SHOWN = 500
"""Only the first certificates of a longer file are shown, with a note."""


def render_certificate(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("certificate", parts["certificate"])
    known = site.library.certificates(entry)
    until = time.monotonic() + site.seconds
    rows = []
    for certificate in known[:MOST_SHOWN]:
        site.tell(f"{entry.name}: checking")
        package = site.library.with_digest(certificate.package)
        rows.append(proven(site, certificate, package, until - time.monotonic()))
    packages = _packages_place([row.package for row in rows if row.package])
    return site.render(
        "certificate.html",
        addresses.certificate(entry.slug),
        entry.name,
        verify=verify_command(packages, entry.place) if packages else "",
        crumbs=site.crumbs(entry),
        entry=entry,
        rows=rows,
        count=len(known),
    )


CERTIFICATE_PAGE = Page(CERTIFICATE_PATTERN, render_certificate, "certificate")


def render_proofs(site: Site, parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    indexed = site.package(parts["package"])
    optima = site.optima(indexed)
    rows = []
    for budget in shown_budgets(site.frontier(indexed)):
        best = optima.optimum(budget)
        with optima.allowance.spend(site.seconds) as seconds:
            proof = best.certificate and proven(site, best.certificate, indexed.entry, seconds)
        rows.append((best, proof, budget_slug(budget)))
    first = next((name for _, proof, name in rows if proof), "")
    return package_tab(
        site,
        indexed,
        "proofs.html",
        rows=rows,
        verify=verify_command("package.json", f"certificate-{first}.json") if first else "",
    )


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
    indexed = site.package(parts["package"])
    package = indexed.package
    data = {**header_data(package), "digest": indexed.digest, **table_data(package)}
    return json_text(data) + "\n"


PROOFS_PAGE = Page("package/{package}/proofs.html", render_proofs, "package")
PACKAGE = Page("package/{package}/package.json", package_file, "package")
CERTIFICATE = Page(
    "package/{package}/certificate/{budget}.json", certificate_file, "package", certificates
)

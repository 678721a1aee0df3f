"""Certificates as pages show them, and the checker's word on them."""

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.checker import Verdict, verify
from memaudit.core.optimum import Certificate, Optimum
from memaudit.core.package import Package
from memaudit.experiments.evaluate import certificate_hash
from memaudit.report.page.proof import certificate_text
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.views.package_data import number_text, shown


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

"""The certificate of the package shown in full: verified now, with files to check it elsewhere."""

import base64
import json
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.checker import verify
from memaudit.kernel.io.package_check import header_data, table_data
from memaudit.kernel.io.strict_json import json_text
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.package.package import Package
from memaudit.lab.runs.evaluate import certificate_hash
from memaudit.lab.runs.report.remade_packages import RemadePackage

MOST_BYTES = 450_000
"""Longer files are not embedded in the page."""


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file embedded in the page as a data URL. Empty if the file is too long."""

    name: str
    address: str
    bytes: int


@dataclass(frozen=True, slots=True)
class VerifiedProof:
    """The checker's verdict now, and whether the run's rows name the same certificate."""

    status: str
    note: str
    solver: str
    valid: bool
    reason: str
    leaves: int
    words: int
    sha256: str
    recorded: str
    package_file: AttachedFile
    certificate_file: AttachedFile | None

    @property
    def same_as_recorded(self) -> bool:
        return self.sha256 != "" and self.sha256 == self.recorded


def verify_proof(remade: RemadePackage, budget: Fraction) -> VerifiedProof:
    """Verify the certificate of a package's optimum, independently of the solver's own check."""
    optimum = remade.optimum(budget)
    certificate = optimum.certificate
    recorded = next((row["certificate"] or "" for row in remade.at(budget)), "")
    package_file = _attached("package.json", package_text(remade.package))
    if certificate is None:
        return VerifiedProof(
            optimum.status,
            optimum.note,
            optimum.solver,
            False,
            optimum.note,
            0,
            0,
            "",
            recorded,
            package_file,
            None,
        )
    verdict = verify(remade.package, certificate)
    return VerifiedProof(
        status=optimum.status,
        note=optimum.note,
        solver=optimum.solver,
        valid=verdict.valid,
        reason=verdict.reason,
        leaves=verdict.leaves,
        words=len(certificate.proof),
        sha256=certificate_hash(certificate),
        recorded=recorded,
        package_file=package_file,
        certificate_file=_attached("certificate.json", certificate_text(certificate)),
    )


def package_text(package: Package) -> str:
    """The package as one JSON file."""
    return (
        json_text({**header_data(package), "digest": digest(package), **table_data(package)}) + "\n"
    )


def certificate_text(certificate: Certificate) -> str:
    """The certificate as one JSON file, in the canonical form that is hashed."""
    return json.dumps(certificate.to_json(), sort_keys=True, separators=(",", ":"))


def _attached(name: str, text: str) -> AttachedFile:
    data = text.encode()
    if len(data) > MOST_BYTES:
        return AttachedFile(name, "", len(data))
    code = base64.b64encode(data).decode("ascii")
    return AttachedFile(name, f"data:application/json;base64,{code}", len(data))

"""The proof of the smallest store as files: the store as a package, and its certificates."""

from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.hygiene.findings import LintReport
from memaudit.io.certificates import write_certificates
from memaudit.io.packages import write_package
from memaudit.io.run_folder import make_folder

PACKAGE, CERTIFICATES = "package.json", "certificates.json"


def write_proof(report: LintReport, folder: Path) -> None:
    """For `memaudit verify FOLDER/package.json FOLDER/certificates.json`."""
    if report.smallest is None:
        raise MemAuditError("there is nothing to prove without units; give a package")
    make_folder(folder)
    proofs = {
        certificate.budget: certificate
        for store in report.smallest.stores
        for certificate in store.proof
    }
    write_package(report.smallest.package, folder / PACKAGE)
    write_certificates([proofs[budget] for budget in sorted(proofs)], folder / CERTIFICATES)

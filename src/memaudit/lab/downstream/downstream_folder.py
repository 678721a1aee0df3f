"""Finished diagnoses and calibrations from their folders."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.file_model import StrictFileModel, validated
from memaudit.kernel.io.strict_json import read_object
from memaudit.lab.downstream.calibration import FORMAT as CALIBRATION
from memaudit.lab.downstream.calibration_files import CalibrationRow, CalibrationSummary
from memaudit.lab.downstream.diagnosis_files import DiagnosisRow, DiagnosisSummary
from memaudit.lab.downstream.run import FORMAT as DIAGNOSIS
from memaudit.lab.downstream.run import SUMMARY
from memaudit.workspace.journal import read_journal
from memaudit.workspace.run_folder import ROWS, SPEC

AGAIN = "run the same command again"
Summary = DiagnosisSummary | CalibrationSummary
FORMS: Mapping[str, tuple[type[Summary], type[StrictFileModel]]] = {
    DIAGNOSIS: (DiagnosisSummary, DiagnosisRow),
    CALIBRATION: (CalibrationSummary, CalibrationRow),
}
"""The models of summary and rows, by format."""


@dataclass(frozen=True, slots=True)
class DownstreamFolder:
    """A finished folder: its summary and its rows."""

    path: Path
    summary: dict[str, Any]
    rows: list[dict[str, Any]]

    @property
    def name(self) -> str:
        return self.path.resolve().name or "diagnosis"

    @property
    def is_calibration(self) -> bool:
        return bool(self.summary["format"] == CALIBRATION)

    @property
    def is_transfer(self) -> bool:
        """Whether its packages come from a file of conversations."""
        return "source" in self.summary["spec"]


def is_downstream(folder: Path) -> bool:
    """Whether a folder is of a diagnosis, a transfer or a calibration."""
    with suppress(MemAuditError):
        return read_object(folder / SPEC, "").get("format") in (DIAGNOSIS, CALIBRATION)
    return False


def open_folder(folder: Path) -> DownstreamFolder:
    """Read a finished run; one that is not finished is refused."""
    if not is_downstream(folder):
        raise MemAuditError(f"{folder} is not a diagnosis; memaudit diagnose makes one")
    path = folder / SUMMARY
    if not path.exists():
        raise MemAuditError(f"{folder} is not finished; run the same command again")
    summary = read_object(path, AGAIN)
    forms = FORMS.get(str(summary.get("format")))
    if forms is None:
        raise MemAuditError(f"{path} is not a summary of a diagnosis; {AGAIN}")
    of_summary, of_row = forms
    rows = validated(of_summary, summary, str(path), AGAIN).rows
    return DownstreamFolder(folder, summary, list(_rows(folder / ROWS, of_row, rows)))


def _rows(path: Path, form: type[StrictFileModel], wanted: int) -> Iterator[dict[str, Any]]:
    """The rows, checked one by one and counted."""
    number = 0
    for number, row in enumerate(read_journal(path), start=1):
        validated(form, row, f"{path}, line {number}", AGAIN)
        yield row
    if number != wanted:
        raise MemAuditError(f"{path} contains {number} of {wanted} rows; {AGAIN}")

"""Finished diagnoses and calibrations from their folders."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memaudit.core.errors import MemAuditError
from memaudit.downstream.calibration import FORMAT as CALIBRATION
from memaudit.downstream.run import FORMAT as DIAGNOSIS
from memaudit.downstream.run import SUMMARY
from memaudit.formats.calibration_files import CalibrationRow, CalibrationSummary
from memaudit.formats.diagnosis_files import DiagnosisRow, DiagnosisSummary, Stated
from memaudit.io.journal import read_journal
from memaudit.io.run_folder import ROWS, SPEC
from memaudit.io.strict_json import first_fault, read_object

AGAIN = "run the same command again"
Summary = DiagnosisSummary | CalibrationSummary
FORMS: Mapping[str, tuple[type[Summary], type[Stated]]] = {
    DIAGNOSIS: (DiagnosisSummary, DiagnosisRow),
    CALIBRATION: (CalibrationSummary, CalibrationRow),
}
"""What summaries and rows have to look like, by format."""


@dataclass(frozen=True, slots=True)
class Folder:
    """What a run left behind: its summary, and its rows."""

    path: Path
    summary: dict[str, Any]
    rows: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """What its pictures are called."""
        return self.path.resolve().name or "diagnosis"

    @property
    def is_calibration(self) -> bool:
        return bool(self.summary["format"] == CALIBRATION)

    @property
    def is_transfer(self) -> bool:
        """Whether its packages are records of a file of conversations."""
        return "source" in self.summary["spec"]


def is_downstream(folder: Path) -> bool:
    """Whether a folder is of a diagnosis, a transfer or a calibration."""
    with suppress(MemAuditError):
        return read_object(folder / SPEC, "").get("format") in (DIAGNOSIS, CALIBRATION)
    return False


def open_folder(folder: Path) -> Folder:
    """Read a finished run; one that is not finished is refused."""
    if not is_downstream(folder):
        raise MemAuditError(f"{folder} holds no diagnosis; memaudit diagnose makes one")
    path = folder / SUMMARY
    if not path.exists():
        raise MemAuditError(f"{folder} is not finished; run the same command again")
    summary = read_object(path, AGAIN)
    forms = FORMS.get(str(summary.get("format")))
    if forms is None:
        raise MemAuditError(f"{path} is not a summary of a diagnosis; {AGAIN}")
    of_summary, of_row = forms
    try:
        stated = of_summary.model_validate(summary)
    except ValidationError as error:
        raise MemAuditError(f"{path}: {first_fault(error)}; {AGAIN}") from None
    return Folder(folder, summary, list(_rows(folder / ROWS, of_row, stated.rows)))


def _rows(path: Path, form: type[Stated], wanted: int) -> Iterator[dict[str, Any]]:
    """The rows, each of its form, as many as the summary is of."""
    number = 0
    for number, row in enumerate(read_journal(path), start=1):
        try:
            form.model_validate(row)
        except ValidationError as error:
            raise MemAuditError(f"{path}, line {number}: {first_fault(error)}; {AGAIN}") from None
        yield row
    if number != wanted:
        raise MemAuditError(f"{path} holds {number} of {wanted} rows; {AGAIN}")

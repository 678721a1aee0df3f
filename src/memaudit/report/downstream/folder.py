"""Finished diagnoses and calibrations from their folders."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.audits.downstream.execute import FORMAT as DIAGNOSIS
from memaudit.audits.downstream.execute import ROWS, SPEC, SUMMARY
from memaudit.core.errors import MemAuditError
from memaudit.experiments.calibration.run import FORMAT as CALIBRATION
from memaudit.io.journal import read_journal
from memaudit.io.objects import read_object


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
    summary = read_object(path, "run the same command again")
    rows = list(read_journal(folder / ROWS))
    wanted = _rows(summary)
    if wanted is None:
        raise MemAuditError(f"{path} is not a summary of a diagnosis; run the same command again")
    if len(rows) != wanted:
        raise MemAuditError(
            f"{folder / ROWS} holds {len(rows)} of {wanted} rows; run the same command again"
        )
    return Folder(folder, summary, rows)


def _rows(summary: dict[str, Any]) -> int | None:
    """How many rows a summary is of; None where it is none."""
    if summary.get("format") == CALIBRATION:
        return int(summary["points"])
    if summary.get("format") == DIAGNOSIS:
        return int(summary["questions"]) * len(summary["summaries"])
    return None

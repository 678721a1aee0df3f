"""A finished run, read from its folder: every row exists, in the right form and place.

Rows are counted before the spec is expanded: a manifest of a few bytes can name a hundred million
seeds, and only rows that really exist may cost memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact, plain
from memaudit.core.seeds import parse_seeds
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.sweep import read_run, row_order
from memaudit.formats.run_files import RunRow
from memaudit.io.files import open_regular
from memaudit.io.journal import Fits, read_journal
from memaudit.io.run_folder import ROWS
from memaudit.io.strict_json import first_fault

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run whose rows have been counted. They are checked one by one when they are read."""

    folder: Path
    manifest: dict[str, Any]
    spec: RunSpec
    fits: Fits

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows in the order of the spec."""
        number = 0
        for number, row in enumerate(read_journal(self.folder / ROWS), start=1):
            try:
                RunRow.model_validate(row)
            except ValidationError as error:
                raise self._wrong(number, first_fault(error)) from None
            if not self.fits(number - 1, row):
                raise self._wrong(number, "it is not the row that belongs here")
            yield row
        if number != self.spec.rows:
            raise not_finished(self.folder, number, self.spec.rows)

    def _wrong(self, number: int, what: str) -> MemAuditError:
        fix = "run the sweep again into a new folder"
        return MemAuditError(f"{self.folder / ROWS}, line {number}: {what}; {fix}")


def open_finished(folder: Path) -> FinishedRun:
    """The run of a folder, refused where rows are missing, before its spec is expanded."""
    manifest = read_run(folder)
    rows = count_rows(folder)
    if rows != manifest["rows"]:
        raise not_finished(folder, rows, manifest["rows"])
    stated = manifest["spec"]
    spec = RunSpec(
        tuple(stated["distributions"]),
        parse_seeds(f"{stated['seeds']},"),
        tuple(stated["budgets"]),
        tuple(stated["writers"]),
        stated.get("seconds"),
    )
    budgets = [plain(exact(manifest["budgets"][given])) for given in spec.budgets]
    return FinishedRun(folder, manifest, spec, row_order(spec, budgets))


def not_finished(folder: Path, rows: int, wanted: int) -> MemAuditError:
    """The error for rows that are missing, or too many."""
    return MemAuditError(
        f"{folder / ROWS} holds {rows} of {wanted} rows; finish the run with the same command"
    )


def count_rows(folder: Path) -> int:
    """How many lines the rows of a run have, complete or not."""
    path = folder / ROWS
    count = 0
    try:
        with open_regular(path, f"cannot read {path}") as file:
            while block := file.read(BLOCK):
                count += block.count(b"\n")
    except OSError as error:
        raise MemAuditError(f"cannot read {path}: {error.strerror or error}") from None
    return count

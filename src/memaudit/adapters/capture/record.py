"""The folder beside the store that makes a capture resumable: a journal and the raw exports."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from memaudit.adapters.capture.example import ExampleResult
from memaudit.adapters.store import Memory
from memaudit.core.errors import MemAuditError
from memaudit.io.files import beside
from memaudit.io.journal import Journal, read_journal, to_line

SUFFIX = ".capture"
JOURNAL = "journal.jsonl"
EXPORTS = "exports"
WORK = "work-"


@dataclass(slots=True)
class Record:
    """An open capture: its finished examples by name, and where new ones go."""

    folder: Path
    journal: Journal
    finished: dict[str, ExampleResult]

    def keep(self, result: ExampleResult) -> None:
        """Write a finished example down; from here on it is not fed again."""
        row = {"kind": "example", **asdict(result)}
        row["memories"] = [memory.model_dump(mode="json") for memory in result.memories]
        self.journal.append([to_line(row)])
        self.finished[result.example] = result

    def export_path(self, digest: str) -> Path:
        """The raw export of an example, in the system's own format; its ending is to be added."""
        return self.folder / EXPORTS / digest[:16]

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        """A new folder for the system's files; a killed run's folder is never used again."""
        path = Path(mkdtemp(prefix=WORK, dir=self.folder))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def open_record(out: Path, identity: dict[str, Any]) -> Iterator[Record]:
    """Begin or go on; a record of other settings or versions is refused."""
    folder = beside(out, SUFFIX)
    try:
        (folder / EXPORTS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemAuditError(f"cannot write {folder}: {error.strerror or error}") from None
    with Journal(folder / JOURNAL) as journal:
        for left in folder.glob(WORK + "*"):  # of a killed run: the lock says nobody uses it now
            shutil.rmtree(left, ignore_errors=True)
        rows = list(read_journal(folder / JOURNAL))
        if not rows:
            journal.append([to_line({"kind": "settings", **identity})])
        else:
            _refuse_other(folder, rows[0], identity)
        yield Record(folder, journal, {row["example"]: _result(row) for row in rows[1:]})


def _refuse_other(folder: Path, row: dict[str, Any], identity: dict[str, Any]) -> None:
    for name, wanted in identity.items():
        if row.get(name) != wanted:
            before, now = json.dumps(row.get(name)), json.dumps(wanted)
            raise MemAuditError(
                f"{folder} was begun with {name} {before}, now it is {now}; "
                "choose another --out, or delete the folder to begin anew"
            )


def _result(row: dict[str, Any]) -> ExampleResult:
    fields = {name: value for name, value in row.items() if name != "kind"}
    fields["memories"] = [Memory.model_validate(memory) for memory in row["memories"]]
    return ExampleResult(**fields)

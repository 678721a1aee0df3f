"""The folder of a reproduction: a folder per part, documents on top, and what is done so far."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import JsonValue

from memaudit.engines import Engine
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import content_digest
from memaudit.kernel.io.strict_json import read_object
from memaudit.workspace.journal import Journal, Key, rows_in_order
from memaudit.workspace.run_folder import files_in, refuse_other_run

FORMAT, VERSION = "memaudit-reproduction", 1
MANIFEST, PROGRESS = "manifest.json", "progress.json"
"""The manifest vouches for a finished reproduction. Until then there is a progress file."""

CONTROLLED, SOLVERS, NATURAL, SENSITIVITY, LABELS, STORES, DOWNSTREAM, FIGURES, TABLES = (
    "controlled",
    "solvers",
    "natural",
    "sensitivity",
    "labels",
    "stores",
    "downstream",
    "figures",
    "tables",
)
PARTS = (CONTROLLED, SOLVERS, NATURAL, SENSITIVITY, LABELS, STORES, DOWNSTREAM, FIGURES)
ARCHIVE, ARCHIVE_NUMBERS = "archive", "numbers.json"
"""A part that exists only where the paper's archive was given."""
SWEEP, STRESS = f"{CONTROLLED}/sweep", f"{CONTROLLED}/stress"
ROWS, SUMMARY = "rows.jsonl", "summary.json"
PACKAGES = "packages.jsonl"
SCOREBOARD, SCOREBOARD_PAGE = "scoreboard.json", "scoreboard.md"
CARD, CROISSANT, LICENCES = "card.md", "croissant.json", "LICENCES.md"

TEMPORARY = ".*.new-*"
"""What a killed process may leave of a file it was writing."""

Task = TypeVar("Task")


def file_sha256(path: Path) -> str:
    return content_digest(path)


def text_sha256(text: str) -> str:
    """The SHA-256 that a file of this text has."""
    return hashlib.sha256(text.encode()).hexdigest()


def hashes_in(folder: Path, part: str) -> dict[str, str]:
    """The files of a part by their path from the folder, each with its SHA-256."""
    return {f"{part}/{name}": file_sha256(folder / part / name) for name in files_in(folder / part)}


def remove_leftovers(folder: Path) -> None:
    """Delete files that a killed process did not finish."""
    for path in sorted(folder.rglob(TEMPORARY)):
        if path.is_file():
            path.unlink()


def append_rows(
    path: Path,
    tasks: Sequence[Task],
    lines_of: Callable[[Task], list[str]],
    fields: Sequence[str],
    keys: Sequence[Key],
    engine: Engine,
    is_valid: Callable[[Mapping[str, Any]], bool] = lambda _: True,
) -> None:
    """Append the rows of every task, each of which has the same number of rows, or resume.

    `keys` says what the `fields` of each row must be. From the first row that differs or is not
    valid, rows are cut off and computed again.
    """
    # Which row is due at each place is known before anything is computed, so a damaged or foreign
    # row is found by its place.
    rows_per_task = len(keys) // len(tasks)
    is_due = rows_in_order(fields, len(keys), keys.__getitem__)
    with Journal(path, lambda place, row: is_due(place, row) and is_valid(row)) as journal:
        first, skip = divmod(journal.rows, rows_per_task)
        for lines in engine.map(lines_of, tasks[first:]):
            journal.append(lines[skip:])
            skip = 0


class Ledger:
    """The parts of one folder. `date` is the day it was started and stays when a run resumes."""

    def __init__(self, folder: Path, identity: Mapping[str, JsonValue], date: str) -> None:
        self.folder, self.identity = folder, dict(identity)
        self.date, self.parts = date, dict[str, dict[str, Any]]()
        before = _read(folder)
        if before is None:
            _refuse_foreign(folder)
        else:
            self._resume(before)
        self._save()
        # Order matters: first the progress file, then the manifest goes, so that a kill in between
        # leaves one of them.
        (folder / MANIFEST).unlink(missing_ok=True)  # it vouches for finished folders only

    def _resume(self, before: dict[str, Any]) -> None:
        refuse_other_run(self.folder, "reproduction", before.get("identity", {}), self.identity)
        self.date, self.parts = str(before["times"]["date"]), dict(before["parts"])

    def verified(self, part: str) -> bool:
        """Whether a part is done and its files are unchanged."""
        done = self.parts.get(part)
        return done is not None and done["files"] == hashes_in(self.folder, part)

    def is_broken(self, part: str) -> bool:
        """Whether a part was done and its files have changed since."""
        return part in self.parts and not self.verified(part)

    def record(self, part: str, seconds: float) -> None:
        files = hashes_in(self.folder, part)
        self.parts[part] = {"files": files, "seconds": round(seconds, 1)}
        self._save()

    def forget(self, part: str) -> None:
        if self.parts.pop(part, None) is not None:
            self._save()

    @property
    def seconds(self) -> dict[str, float]:
        """How long each part took."""
        return {name: part["seconds"] for name, part in sorted(self.parts.items())}

    @property
    def files(self) -> dict[str, dict[str, str]]:
        """The files of each part, with their hashes."""
        return {name: part["files"] for name, part in sorted(self.parts.items())}

    def _save(self) -> None:
        data = {
            "format": FORMAT,
            "version": VERSION,
            "identity": self.identity,
            "times": {"date": self.date},
            "parts": self.parts,
        }
        write_file(self.folder / PROGRESS, json.dumps(data, indent=1) + "\n")

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest, which vouches for every file from now on."""
        write_file(self.folder / MANIFEST, json.dumps(manifest, indent=1) + "\n")
        (self.folder / PROGRESS).unlink()


def _read(folder: Path) -> dict[str, Any] | None:
    # Both exist only if a run was killed between writing one and removing the other; the progress
    # file is then the one to trust.
    for name in (PROGRESS, MANIFEST):
        path = folder / name
        if not path.exists():
            continue
        data = read_object(path, "choose another folder")
        if data.get("format") != FORMAT:
            raise MemAuditError(f"{path} is not part of a reproduction; choose another folder")
        if name == MANIFEST:
            return _progress_of(data)
        return data
    return None


def _progress_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a finished folder says about its parts, in the form of one in progress."""
    try:
        seconds = manifest["times"]["seconds"]
        parts = {
            name: {"files": files, "seconds": seconds[name]}
            for name, files in manifest["parts"].items()
        }
        return {"identity": manifest["identity"], "times": manifest["times"], "parts": parts}
    except (KeyError, TypeError):
        raise MemAuditError(f"{MANIFEST} lacks fields; choose another folder") from None


def _refuse_foreign(folder: Path) -> None:
    foreign = next(files_in(folder), None)
    if foreign is not None:
        raise MemAuditError(
            f"{folder} holds {foreign}, which is not part of a reproduction; choose another folder"
        )

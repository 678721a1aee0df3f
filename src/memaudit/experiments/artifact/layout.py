"""Where things are in the folder of a reproduction: a folder for each part, documents on top."""

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.io.run_folder import LOCK

FORMAT, VERSION = "memaudit-reproduction", 1
MANIFEST, PROGRESS = "manifest.json", "progress.json"
"""The manifest vouches for a finished reproduction; progress stands in for it until then."""

CONTROLLED, SOLVERS, NATURAL, SENSITIVITY, LABELS, DOWNSTREAM, FIGURES, TABLES = (
    "controlled", "solvers", "natural", "sensitivity", "labels", "downstream", "figures", "tables",
)  # fmt: skip
PARTS = (CONTROLLED, SOLVERS, NATURAL, SENSITIVITY, LABELS, DOWNSTREAM, FIGURES)
SWEEP, STRESS = f"{CONTROLLED}/sweep", f"{CONTROLLED}/stress"
ROWS, SUMMARY = "rows.jsonl", "summary.json"
PACKAGES = "packages.jsonl"
SCOREBOARD, SCOREBOARD_PAGE = "scoreboard.json", "scoreboard.md"
CARD, CROISSANT, LICENCES = "card.md", "croissant.json", "LICENCES.md"

EMPTY = "is an empty folder"
TEMPORARY = ".*.new-*"
"""What a killed process may leave behind of a file it was writing."""


def entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Every entry by its path, sorted, with what is wrong with it: an empty text for a plain file.

    Links are never followed. Locks and folders with something in them are left out.
    """
    found = []
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place, name)
            wrong = _refused(path)
            if wrong is not None:
                found.append((path.relative_to(folder).as_posix(), wrong))
    yield from sorted(found)


def _refused(path: Path) -> str | None:
    """Why an entry is not one of ours, an empty text for a file; None for what needs no mention."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "is a link; a reproduction holds plain files"
    if stat.S_ISDIR(status.st_mode):
        return None if any(path.iterdir()) else EMPTY
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if path.name == LOCK and not status.st_size:
        return None
    return ""


def files_in(folder: Path) -> Iterator[str]:
    """Every file by its path from the folder, sorted, hidden ones too; only locks are left out."""
    for name, wrong in entries(folder):
        if wrong and wrong != EMPTY:
            raise MemAuditError(f"{folder / name} {wrong}; remove it or choose another folder")
        if not wrong:
            yield name


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_sha256(text: str) -> str:
    """The SHA-256 that a file of this text has."""
    return hashlib.sha256(text.encode()).hexdigest()


def hashes_in(folder: Path, part: str) -> dict[str, str]:
    """The files of a part by their path from the folder, each with its SHA-256."""
    return {f"{part}/{name}": file_sha256(folder / part / name) for name in files_in(folder / part)}


def remove_leftovers(folder: Path) -> None:
    """Delete files that a killed process had begun and nobody will finish."""
    for path in sorted(folder.rglob(TEMPORARY)):
        if path.is_file():
            path.unlink()

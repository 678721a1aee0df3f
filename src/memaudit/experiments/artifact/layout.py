"""Where things are in the folder of a reproduction: a folder for each part, documents on top."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

FORMAT, VERSION = "memaudit-reproduction", 1
MANIFEST, PROGRESS = "manifest.json", "progress.json"
"""The manifest vouches for a finished reproduction; progress stands in for it until then."""

CONTROLLED, SOLVERS, NATURAL, SENSITIVITY, LABELS, FIGURES, TABLES = (
    "controlled", "solvers", "natural", "sensitivity", "labels", "figures", "tables",
)  # fmt: skip
SWEEP, STRESS = f"{CONTROLLED}/sweep", f"{CONTROLLED}/stress"
ROWS, SUMMARY = "rows.jsonl", "summary.json"
PACKAGES = "packages.jsonl"
SCOREBOARD, SCOREBOARD_PAGE = "scoreboard.json", "scoreboard.md"
CARD, CROISSANT, LICENCES = "card.md", "croissant.json", "LICENCES.md"

TEMPORARY = ".*.new-*"
"""What a killed process may leave behind of a file it was writing."""


def files_in(folder: Path) -> Iterator[str]:
    """Every file by its path from the folder, sorted; hidden ones are locks and leftovers."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    yield from sorted(
        path.as_posix() for path in paths if not any(part.startswith(".") for part in path.parts)
    )


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

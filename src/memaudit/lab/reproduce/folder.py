"""The folder of a reproduction: what was asked for, by which program, and what is done so far.

It has a folder per part, and documents on top.
"""

import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import JsonValue

from memaudit.building.named_packages import natural_set
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import content_digest
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.version import VERSION as PROGRAM
from memaudit.lab.sweeps.runs.solver_audit import ROWS as AUDIT_ROWS
from memaudit.workspace.engines import Engine
from memaudit.workspace.journal import Journal, Key, rows_in_order
from memaudit.workspace.run_folder import files_in, refuse_other_run

SEEDS = 500
"""Of the paper's controlled runs."""

LIBRARIES = ("numpy", "numba", "highspy", "joblib", "matplotlib", "pillow")
DATA = ("examples/", "lab/sweeps/generators/tables/")
"""What results are computed from, besides seeds."""

MOST = {"seeds": 100_000, "rows": 1_000_000}
"""Larger numbers are a slip or an attack."""


def versions() -> dict[str, str]:
    """The platform, Python, and every library that numbers or figures come from."""
    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "memaudit": PROGRAM,
        **{name: version(name) for name in LIBRARIES},
    }


@cache
def own_files() -> dict[str, str]:
    """Every file of the installed program by its path, with its SHA-256."""
    return {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name, file in sorted(_walk(files("memaudit"), ""), key=lambda entry: entry[0])
    }


def source_digest() -> str:
    """One SHA-256 over all files of the program."""
    # Names are part of it: moving a file is another program too.
    text = "".join(f"{sha256}  {name}\n" for name, sha256 in own_files().items())
    return hashlib.sha256(text.encode()).hexdigest()


def prompt_hashes() -> dict[str, str]:
    """Every prompt for a model, and the guideline for annotators."""
    return {
        name: sha256
        for name, sha256 in own_files().items()
        if name.endswith(".md") and ("prompts/" in name or name.endswith("guideline.md"))
    }


def data_hashes() -> dict[str, str]:
    return {name: sha256 for name, sha256 in own_files().items() if name.startswith(DATA)}


def _walk(folder: Traversable, place: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.name.startswith((".", "__pycache__")):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{place}{entry.name}/")
        elif not entry.name.endswith(".pyc"):
            yield f"{place}{entry.name}", entry


@dataclass(frozen=True, slots=True)
class Settings:
    """Seeds of the controlled runs, rows of the solver audit, packages of the natural set.

    The paper's numbers need the defaults. Smaller ones are for a quick look.
    """

    seeds: int = SEEDS
    rows: int = AUDIT_ROWS
    packages: int = 64

    def __post_init__(self) -> None:
        for name in ("seeds", "rows", "packages"):
            if getattr(self, name) < 1:
                raise MemAuditError(f"--{name} must be at least 1")
        for name, most in MOST.items():
            if getattr(self, name) > most:
                raise MemAuditError(f"--{name} must be at most {most:,}")
        if self.packages > len(natural_set()):
            raise MemAuditError(
                f"--packages {self.packages}: the natural set has {len(natural_set())}"
            )

    def to_json(self) -> dict[str, int]:
        return {"seeds": self.seeds, "rows": self.rows, "packages": self.packages}

    @property
    def remark(self) -> str:
        return remark_on(self.to_json())

    @property
    def options(self) -> str:
        """As on the command line."""
        return f"--seeds {self.seeds} --rows {self.rows} --packages {self.packages}"

    def identity(self) -> dict[str, JsonValue]:
        """What a run that resumes must have in common with the one that was started."""
        return {
            "settings": dict(self.to_json()),
            "memaudit": versions()["memaudit"],
            "source": source_digest(),
        }


def remark_on(given: Mapping[str, int]) -> str:
    """What to expect with these settings, empty if they are the defaults."""
    usual = {setting.name: setting.default for setting in fields(Settings)}
    other = " ".join(f"--{name} {value}" for name, value in given.items() if value != usual[name])
    if not other:
        return ""
    return f"made with {other}, the paper's numbers need the defaults; differences are expected"


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

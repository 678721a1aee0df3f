"""Packages of runs, and the rows about one package, read without parsing all rows."""

import mmap
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.lab.explorer.addresses import slug
from memaudit.lab.explorer.library.entries import LibraryEntry, regular
from memaudit.lab.runs.seeds import parse_seed_ranges
from memaudit.lab.runs.spec import named_source
from memaudit.lab.runs.summary import count_rows
from memaudit.lab.runs.sweep import read_run
from memaudit.workspace.journal import intact_row
from memaudit.workspace.run_folder import ROWS


def rows_written(folder: Path) -> int:
    """How many rows a run has now."""
    path = folder / ROWS
    if not path.exists():
        return 0
    try:
        with regular(path).open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError as error:
        raise MemAuditError(f"cannot read {path}: {error.strerror or error}") from None


def rows_with(folder: Path, digest: str) -> Iterator[dict[str, Any]]:
    """The complete rows of a run whose package has this digest, in the order of the file."""
    needle = f'"digest":"{digest}"'.encode()
    try:
        with regular(folder / ROWS).open("rb") as file:
            if not file.seek(0, 2):
                return
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                place = data.find(needle)
                while place >= 0:
                    start, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place) + 1
                    line = data[start : end or len(data)]
                    row = intact_row(line)
                    if row is not None and row.get("digest") == digest:
                        yield row
                    place = data.find(needle, end) if end else -1
    except OSError as error:
        raise MemAuditError(f"cannot read {folder / ROWS}: {error.strerror or error}") from None


MOST = 100_000
IS_OF_RUN = "run"
"""The fact that marks the package of a run: the run's slug."""


def run_packages(run: LibraryEntry) -> tuple[LibraryEntry, ...]:
    """The packages of a run that have rows so far, in the order of the run."""
    manifest = read_run(run.path)
    spec = manifest["spec"]
    each = len(spec["budgets"]) * len(spec["writers"])
    reached = -(-count_rows(run.path) // each)
    packages = (
        (name, seed)
        for name in spec["distributions"]
        for seed in chain.from_iterable(parse_seed_ranges(f"{spec['seeds']},"))
    )
    return tuple(run_package(run, *package) for package in islice(packages, min(MOST, reached)))


def run_package(run: LibraryEntry, distribution: str, seed: int) -> LibraryEntry:
    name, part = f"{distribution}, seed {seed}", f"{distribution} {seed}"
    facts: dict[str, int | str] = {
        IS_OF_RUN: run.slug,
        "distribution": distribution,
        "seed": seed,
    }
    key = slug(name, "package", run.place, part)
    return LibraryEntry("package", key, name, run.place, run.path, part, 0, run.stamp, facts)


def remade(entry: LibraryEntry) -> Package:
    """The package of a run, generated now; it must be the one that the rows are about."""
    name, seed = entry.text("distribution"), entry.count("seed") or 0
    distribution = named_source(name)
    package = distribution.package(seed if distribution.draws else 0)
    made = digest(package)
    if not any(row.get("distribution") == name for row in rows_with(entry.path, made)):
        raise MemAuditError(
            f"{entry.place}: no row is about the package that {name}, seed {seed} gives now "
            f"(digest {made[:12]}); the run used another version, or has not reached it yet"
        )
    return package

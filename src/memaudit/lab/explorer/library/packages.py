"""Packages with numbered rows, and the packages of runs, which are generated again when opened."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import (
    Candidate,
    Coverage,
    EvidenceUnit,
    Experience,
    Package,
    Query,
)
from memaudit.lab.explorer.addresses import slug
from memaudit.lab.explorer.library.entries import LibraryEntry, regular
from memaudit.lab.explorer.views.store_comparison import (
    Cells,
    ComparableStore,
    candidate_store,
    cells_by_candidate,
)
from memaudit.lab.sweeps.runs.spec import named_source, parse_seed_ranges
from memaudit.lab.sweeps.runs.summary import count_rows
from memaudit.lab.sweeps.runs.sweep import read_run
from memaudit.workspace.journal import intact_row
from memaudit.workspace.run_folder import ROWS


@dataclass(frozen=True)
class IndexedPackage:
    """A package with numbered rows: experiences in stream order, candidates by experience and then
    id, units and queries in the order of the package."""

    entry: LibraryEntry
    package: Package

    @cached_property
    def digest(self) -> str:
        return digest(self.package)

    @cached_property
    def experiences(self) -> tuple[Experience, ...]:
        return tuple(sorted(self.package.experiences, key=lambda item: item.index))

    @cached_property
    def experience_at(self) -> dict[str, int]:
        return {item.id: place for place, item in enumerate(self.experiences)}

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Candidates as solvers and writers order them."""
        at = self.experience_at
        return tuple(
            sorted(self.package.candidates, key=lambda item: (at[item.experience], item.id))
        )

    @cached_property
    def candidate_at(self) -> dict[str, int]:
        return {item.id: place for place, item in enumerate(self.candidates)}

    @cached_property
    def by_experience(self) -> tuple[tuple[int, ...], ...]:
        """The places of the candidates of each experience."""
        groups: list[list[int]] = [[] for _ in self.experiences]
        for place, item in enumerate(self.candidates):
            groups[self.experience_at[item.experience]].append(place)
        return tuple(map(tuple, groups))

    @cached_property
    def units(self) -> tuple[EvidenceUnit, ...]:
        return self.package.units

    @cached_property
    def unit_at(self) -> dict[str, int]:
        return {item.id: place for place, item in enumerate(self.units)}

    @cached_property
    def cells(self) -> tuple[tuple[tuple[int, Coverage], ...], ...]:
        """Per candidate, the units it covers: place and cell, in order of units."""
        rows: list[list[tuple[int, Coverage]]] = [[] for _ in self.candidates]
        for cell in self.package.coverage:
            if cell.value:
                rows[self.candidate_at[cell.candidate]].append((self.unit_at[cell.unit], cell))
        return tuple(tuple(sorted(row, key=lambda item: item[0])) for row in rows)

    @cached_property
    def coverers(self) -> tuple[tuple[tuple[int, Coverage], ...], ...]:
        """Per unit, the candidates that cover it, the cheapest first."""
        columns: list[list[tuple[int, Coverage]]] = [[] for _ in self.units]
        for place, row in enumerate(self.cells):
            for unit, cell in row:
                columns[unit].append((place, cell))
        return tuple(
            tuple(sorted(column, key=lambda item: (self.candidates[item[0]].cost, item[0])))
            for column in columns
        )

    @cached_property
    def _candidate_cells(self) -> Cells:
        return cells_by_candidate(self.package)

    def candidate_store(
        self, label: str, store: Iterable[str], failed: str = ""
    ) -> ComparableStore:
        """A store of the package's candidates, in order of arrival; unknown ids are left out."""
        known = sorted(
            (id for id in store if id in self.candidate_at), key=self.candidate_at.__getitem__
        )
        return candidate_store(self.package, self._candidate_cells, label, known, failed)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of candidates, the most frequent first."""
        counts: dict[str, int] = {}
        for item in self.candidates:
            counts[item.kind] = counts.get(item.kind, 0) + 1
        return tuple(sorted(counts, key=lambda kind: (-counts[kind], kind)))

    @cached_property
    def query_slugs(self) -> dict[str, Query]:
        """Queries by their names in addresses."""
        return {slug(item.id): item for item in self.package.queries}

    @cached_property
    def total_cost(self) -> Fraction:
        """The cost of keeping everything."""
        return self.package.total_cost(self.package.candidate)

    @cached_property
    def total_weight(self) -> Fraction:
        return sum(self.package.weights.values(), Fraction(0))


def rows_written(folder: Path) -> int:
    """How many rows a run has now."""
    return count_rows(folder) if (folder / ROWS).exists() else 0


def rows_with(folder: Path, digest: str) -> Iterator[dict[str, Any]]:
    """The complete rows of a run whose package has this digest, in the order of the file."""
    needle = f'"digest":"{digest}"'.encode()
    try:
        with regular(folder / ROWS).open("rb") as file:
            for line in file:
                # Parsing every row of a large run takes long: only lines that hold the digest are
                # parsed. It may stand in another field, so the row is asked again.
                row = intact_row(line) if needle in line else None
                if row is not None and row.get("digest") == digest:
                    yield row
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
    # Rounded up: the last package may have a part of its rows.
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

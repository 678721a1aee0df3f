"""Every result of a reproduction, read from its folder for the documents and the manifest."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memaudit.kernel.io.strict_json import read_object
from memaudit.lab.reproduce.folder import (
    ARCHIVE,
    ARCHIVE_NUMBERS,
    DOWNSTREAM,
    LABELS,
    NATURAL,
    ROWS,
    SENSITIVITY,
    SOLVERS,
    STORES,
    STRESS,
    SUMMARY,
    SWEEP,
    Settings,
)
from memaudit.lab.reproduce.own_set import (
    AGREEMENT,
    COSTS,
    DENOMINATORS,
    RATIOS,
    RELIABILITY,
    SMALLEST,
)
from memaudit.lab.reproduce.scoreboard import ArchiveNumbers, Scoreboard, make_scoreboard
from memaudit.lab.sweeps.runs.sweep import read_run
from memaudit.workspace.journal import read_journal

Data = dict[str, Any]
PackageKey = tuple[str, int]
"""Distribution and seed. In the natural set the seed is a place."""


@dataclass(slots=True)
class PackageIndex:
    """Packages with name and digest, and the hashes of certificates by digest and question."""

    packages: dict[PackageKey, tuple[str, str]] = field(default_factory=dict)
    certificates: dict[str, dict[str, str | None]] = field(default_factory=dict)

    def add_row(self, row: Mapping[str, Any]) -> None:
        """A row of a run."""
        self.packages[row["distribution"], row["seed"]] = row["package"], row["digest"]
        self._add_certificate(row, str(row["budget"]))

    def add_variant(self, row: Mapping[str, Any]) -> None:
        """A row of the sensitivity part, whose group cap need not be the package's."""
        cap = row["group_cap"]
        self._add_certificate(
            row, f"{row['budget']}" if cap == 1 else f"{row['budget']}, k = {cap}"
        )

    def _add_certificate(self, row: Mapping[str, Any], question: str) -> None:
        self.certificates.setdefault(row["digest"], {})[question] = row["certificate"]

    def to_json(self) -> dict[str, Any]:
        """As the manifest holds it."""
        packages: dict[str, dict[str, str]] = {}
        for (distribution, seed), (_, digest) in sorted(self.packages.items()):
            packages.setdefault(distribution, {})[str(seed)] = digest
        certificates = {
            digest: dict(sorted(hashes.items()))
            for digest, hashes in sorted(self.certificates.items())
        }
        return {"packages": packages, "certificates": certificates}

    def lines(self) -> Iterator[str]:
        """One line of JSON per package."""
        for (distribution, seed), (name, digest) in sorted(self.packages.items()):
            row = {"name": name, "distribution": distribution, "seed": seed, "digest": digest}
            yield json.dumps(row) + "\n"


@dataclass(frozen=True, slots=True)
class Results:
    """One field per file, and the scoreboard that follows from them."""

    settings: Settings
    runs: dict[str, Data]
    summaries: dict[str, Data]
    solvers: Data
    natural: Data
    sensitivity: Data
    agreement: Data
    ratios: Data
    reliability: Data
    denominators: Data
    costs: Data
    smallest: Data
    downstream: Data
    index: PackageIndex
    scoreboard: Scoreboard


def read_results(folder: Path, settings: Settings) -> Results:
    """Read every part."""

    def read(part: str, name: str = SUMMARY) -> Data:
        return read_object(folder / part / name, "run memaudit reproduce all again")

    runs = {"sweep": read_run(folder / SWEEP), "stress": read_run(folder / STRESS)}
    summaries = {"sweep": read(SWEEP), "stress": read(STRESS)}
    solvers = read(SOLVERS)
    return Results(
        settings=settings,
        runs=runs,
        summaries=summaries,
        solvers=solvers,
        natural=read(NATURAL),
        sensitivity=read(SENSITIVITY),
        agreement=read(LABELS, AGREEMENT),
        ratios=read(LABELS, RATIOS),
        reliability=read(LABELS, RELIABILITY),
        denominators=read(STORES, DENOMINATORS),
        costs=read(STORES, COSTS),
        smallest=read(STORES, SMALLEST),
        downstream=read(DOWNSTREAM),
        index=_index(folder),
        scoreboard=make_scoreboard(
            settings.to_json(),
            runs["sweep"]["budgets"],
            summaries,
            solvers,
            _archive_numbers(folder),
        ),
    )


def _archive_numbers(folder: Path) -> ArchiveNumbers | None:
    path = folder / ARCHIVE / ARCHIVE_NUMBERS
    if not path.is_file():
        return None
    data = read_object(path, "run memaudit reproduce all again")["numbers"]
    return {
        str(where): {
            str(what): None if number is None else float(number) for what, number in numbers.items()
        }
        for where, numbers in data.items()
    }


def _index(folder: Path) -> PackageIndex:
    index = PackageIndex()
    # The rows are the source, not the summaries: they have the digest of every package.
    for run in (SWEEP, STRESS, NATURAL):
        for row in read_journal(folder / run / ROWS):
            index.add_row(row)
    for row in read_journal(folder / SENSITIVITY / ROWS):
        index.add_variant(row)
    return index

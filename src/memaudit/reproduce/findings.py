"""Every package and every certificate that rows name: what the manifest lists."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memaudit.experiments.sweep import read_run
from memaudit.io.journal import read_journal
from memaudit.io.strict_json import read_object
from memaudit.reproduce.board import Board, board
from memaudit.reproduce.folder import (
    DOWNSTREAM,
    LABELS,
    NATURAL,
    ROWS,
    SENSITIVITY,
    SOLVERS,
    STRESS,
    SUMMARY,
    SWEEP,
)
from memaudit.reproduce.label_results import AGREEMENT, RATIOS, RELIABILITY
from memaudit.reproduce.settings import Settings

PackageKey = tuple[str, int]
"""Distribution and seed; in the natural set the seed is a place."""

RUNS = (SWEEP, STRESS, NATURAL)


@dataclass(slots=True)
class Index:
    """Packages with their name and digest, certificate hashes by digest and question."""

    packages: dict[PackageKey, tuple[str, str]] = field(default_factory=dict)
    certificates: dict[str, dict[str, str | None]] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any]) -> None:
        """A row of a run."""
        self.packages[row["distribution"], row["seed"]] = row["package"], row["digest"]
        self._prove(row["digest"], str(row["budget"]), row["certificate"])

    def add_variant(self, row: Mapping[str, Any]) -> None:
        """A row of the sensitivity part, whose group cap need not be the package's."""
        self._prove(row["digest"], question(row["budget"], row["group_cap"]), row["certificate"])

    def _prove(self, digest: str, asked: str, certificate: str | None) -> None:
        self.certificates.setdefault(digest, {})[asked] = certificate

    def to_json(self) -> dict[str, Any]:
        """As the manifest holds it."""
        packages: dict[str, dict[str, str]] = {}
        for (distribution, seed), (_, digest) in sorted(self.packages.items()):
            packages.setdefault(distribution, {})[str(seed)] = digest
        certificates = {
            digest: dict(sorted(found.items())) for digest, found in self.certificates.items()
        }
        return {"packages": packages, "certificates": dict(sorted(certificates.items()))}

    def lines(self) -> Iterable[str]:
        """One line a package, for those who read tables."""
        for (distribution, seed), (name, digest) in sorted(self.packages.items()):
            row = {"name": name, "distribution": distribution, "seed": seed, "digest": digest}
            yield json.dumps(row) + "\n"


def question(budget: object, group_cap: int) -> str:
    """What a certificate answers besides its package: a budget, and a cap where it is not 1."""
    return str(budget) if group_cap == 1 else f"{budget}, k = {group_cap}"


def index_of(folder: Path) -> Index:
    """The index of a reproduction, from its rows."""
    found = Index()
    for run in RUNS:
        for row in read_journal(folder / run / ROWS):
            found.add(row)
    for row in read_journal(folder / SENSITIVITY / ROWS):
        found.add_variant(row)
    return found


Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Findings:
    """One field a file, and the scoreboard that follows from them."""

    settings: Settings
    runs: dict[str, Data]
    summaries: dict[str, Data]
    solvers: Data
    natural: Data
    sensitivity: Data
    agreement: Data
    ratios: Data
    reliability: Data
    downstream: Data
    index: Index
    board: Board


def findings(folder: Path, settings: Settings) -> Findings:
    """Read every part."""
    runs = {"sweep": read_run(folder / SWEEP), "stress": read_run(folder / STRESS)}
    summaries = {
        "sweep": _read(folder / SWEEP / SUMMARY), "stress": _read(folder / STRESS / SUMMARY)
    }  # fmt: skip
    solvers = _read(folder / SOLVERS / SUMMARY)
    return Findings(
        settings=settings,
        runs=runs,
        summaries=summaries,
        solvers=solvers,
        natural=_read(folder / NATURAL / SUMMARY),
        sensitivity=_read(folder / SENSITIVITY / SUMMARY),
        agreement=_read(folder / LABELS / AGREEMENT),
        ratios=_read(folder / LABELS / RATIOS),
        reliability=_read(folder / LABELS / RELIABILITY),
        downstream=_read(folder / DOWNSTREAM / SUMMARY),
        index=index_of(folder),
        board=board(settings.to_json(), runs["sweep"]["budgets"], summaries, solvers),
    )


def _read(path: Path) -> Data:
    return read_object(path, "make it again")

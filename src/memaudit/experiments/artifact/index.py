"""Every package and every certificate that rows name: what the manifest lists."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memaudit.experiments.artifact.layout import NATURAL, ROWS, SENSITIVITY, STRESS, SWEEP
from memaudit.io.journal import read_journal

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

"""A run's folder as figures need it: what it ran, its summary, and one package of each sort."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.package import Package
from memaudit.experiments.spec import named_seeds
from memaudit.experiments.sweep import ROWS, read_run
from memaudit.generators.registry import named_distribution
from memaudit.io.journal import read_journal
from memaudit.report.figures.cells import read_summary


@dataclass(frozen=True)
class Run:
    """A sweep on disk; each part is read when a figure asks for it."""

    folder: Path

    @property
    def name(self) -> str:
        """What its figures are called."""
        return self.folder.resolve().name or "run"

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What was run."""
        return read_run(self.folder)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Its summary, refused where it is of another run."""
        summary = read_summary(self.folder)
        if summary.get("spec_digest") != self.manifest["spec_digest"]:
            raise MemAuditError(f"the summary in {self.folder} is of another run; summarise again")
        return summary

    @property
    def budgets(self) -> list[Fraction]:
        """Its budgets as costs, from the smallest."""
        return sorted(exact(text) for text in self.manifest["budgets"].values())

    @property
    def first_seed(self) -> int:
        """The seed of the packages that stand for the others."""
        return named_seeds(self.manifest["spec"]["seeds"] + ",")[0][0]

    @property
    def distributions(self) -> list[str]:
        """Their names, in the run's order."""
        return list(self.manifest["spec"]["distributions"])

    @property
    def writers(self) -> list[str]:
        """Their names, in the run's order."""
        return list(self.manifest["spec"]["writers"])

    def package(self, distribution: str) -> Package:
        """The package of a distribution and the first seed."""
        return named_distribution(distribution).package(self.first_seed)

    def reached(self, writer: str) -> dict[str, list[tuple[float, float]]]:
        """What a writer's stores of the first seed are worth: budget and value by digest."""
        found: dict[str, list[tuple[float, float]]] = {}
        for row in read_journal(self.folder / ROWS):
            ours = row["writer"] == writer and row["seed"] == self.first_seed
            if ours and row["value"] is not None:
                point = (float(exact(row["budget"])), float(row["value"]))
                found.setdefault(row["digest"], []).append(point)
        return found


def nearest(budgets: Sequence[Fraction], wanted: Fraction) -> Fraction:
    """The budget next to a wanted one; the smaller of two."""
    return min(budgets, key=lambda budget: (abs(budget - wanted), budget))

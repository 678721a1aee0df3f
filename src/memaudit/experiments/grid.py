"""The rows of a run as arrays: per distribution, package by budget by writer."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.statistics import Floats
from memaudit.experiments.spec import parse_seeds

FIELDS = ("ratio", "value", "cost", "invalidation", "current", "stale")


@dataclass(slots=True)
class Grid:
    """One distribution. What is undefined is NaN; why it is, is counted."""

    distribution: str
    seeds: list[int]
    budgets: list[int | float | str]
    writers: list[str]
    numbers: dict[str, Floats] = field(init=False)
    zero: NDArray[np.bool_] = field(init=False)
    uncertified: NDArray[np.bool_] = field(init=False)
    failed: NDArray[np.bool_] = field(init=False)
    digests: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (len(self.seeds), len(self.budgets), len(self.writers))
        self.numbers = {name: np.full(shape, np.nan) for name in FIELDS}
        self.zero, self.uncertified, self.failed = np.zeros((3, *shape), bool)

    def place(self, at: tuple[int, int, int], row: dict[str, Any]) -> None:
        """Put a row in its place."""
        for name, numbers in self.numbers.items():
            if row[name] is not None:
                numbers[at] = float(row[name])
        self.digests.setdefault(row["digest"], at[0])
        self.failed[at] = "failed" in row
        self.uncertified[at] = row["certificate"] is None
        self.zero[at] = "undefined" in row and row["certificate"] is not None

    @property
    def distinct(self) -> list[int]:
        """The places of packages that are not copies of an earlier one: copies are no evidence."""
        return sorted(self.digests.values())

    @property
    def by_package(self) -> Floats:
        """Per package and writer, the mean ratio over the budgets where it is defined."""
        ratio = self.numbers["ratio"]
        defined = ~np.isnan(ratio)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = np.where(defined, ratio, 0.0).sum(axis=1) / defined.sum(axis=1)
        return means


def read_grids(manifest: dict[str, Any], rows: Iterable[dict[str, Any]]) -> list[Grid]:
    """One grid per distribution, filled from rows in any order."""
    spec = manifest["spec"]
    seeds = list(parse_seeds(spec["seeds"] + ","))
    writers = list(spec["writers"])
    seed_at = {seed: place for place, seed in enumerate(seeds)}
    writer_at = {writer: place for place, writer in enumerate(writers)}
    grids: dict[str, Grid] = {}
    budget_at: dict[int | float | str, int] = {}
    for row in rows:
        budget = budget_at.setdefault(row["budget"], len(budget_at))
        name = row["distribution"]
        if name not in grids:
            grids[name] = Grid(name, seeds, [0] * len(spec["budgets"]), writers)
        grids[name].budgets[budget] = row["budget"]
        grids[name].place((seed_at[row["seed"]], budget, writer_at[row["writer"]]), row)
    return list(grids.values())

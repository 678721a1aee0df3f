"""The rows of a run as arrays: per distribution, package by budget by writer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.seeds import parse_seeds
from memaudit.stats.bootstrap import Floats, Indices, resample_counts

FIELDS = ("ratio", "value", "cost", "invalidation", "current", "stale")


@dataclass(slots=True)
class Grid:
    """One distribution. Undefined numbers are NaN, and the reasons are counted."""

    distribution: str
    seeds: list[int]
    budgets: list[int | float | str]
    writers: list[str]
    numbers: dict[str, Floats] = field(init=False)
    zero: NDArray[np.bool_] = field(init=False)
    uncertified: NDArray[np.bool_] = field(init=False)
    failed: NDArray[np.bool_] = field(init=False)
    digests: list[str] = field(init=False)

    def __post_init__(self) -> None:
        shape = (len(self.seeds), len(self.budgets), len(self.writers))
        self.numbers = {name: np.full(shape, np.nan) for name in FIELDS}
        self.zero, self.uncertified, self.failed = np.zeros((3, *shape), bool)
        self.digests = [""] * len(self.seeds)

    def place(self, at: tuple[int, int, int], row: dict[str, Any]) -> None:
        for name, numbers in self.numbers.items():
            value = row[name]
            if value is not None:
                numbers[at] = float(exact(value) if isinstance(value, str) else value)
        self.digests[at[0]] = row["digest"]
        self.failed[at] = "failed" in row
        self.uncertified[at] = row["certificate"] is None
        self.zero[at] = "undefined" in row and row["certificate"] is not None

    @property
    def distinct(self) -> int:
        """Packages that differ; a distribution without draws has one for all seeds."""
        return len(set(self.digests))

    @property
    def by_package(self) -> Floats:
        """Per package and writer, the mean ratio over the budgets where it is defined."""
        ratio = self.numbers["ratio"]
        defined = ~np.isnan(ratio)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = np.where(defined, ratio, 0.0).sum(axis=1) / defined.sum(axis=1)
        return means


@dataclass(frozen=True, slots=True)
class PackageResampling:
    """How packages are resampled. Copies of one package are drawn and flipped together.

    `drawn` says how often each package is drawn, one row per resample. Copies have the same number
    in `cluster`. Means are over all packages, so that every distribution keeps its weight.
    """

    drawn: Floats
    cluster: Indices


def package_resampling(grids: Sequence[Grid]) -> PackageResampling:
    """The resampling of the packages of some distributions, one after the other.

    A package is drawn within the distribution that has it first, together with its copies.
    """
    number: dict[str, int] = {}
    drawn = []
    for seed, grid in enumerate(grids):
        known = len(number)
        for digest in grid.digests:
            number.setdefault(digest, len(number))
        if len(number) > known:
            drawn.append(resample_counts(len(number) - known, seed))
    cluster = np.array([number[digest] for grid in grids for digest in grid.digests])
    return PackageResampling(np.concatenate(drawn, axis=1)[:, cluster], cluster)


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
        name, seed, writer = row["distribution"], row["seed"], row["writer"]
        budget = budget_at.setdefault(row["budget"], len(budget_at))
        if seed not in seed_at or writer not in writer_at or budget >= len(spec["budgets"]):
            raise MemAuditError(
                f"a row of {name!r}, seed {seed} by {writer!r} is not part of the spec"
            )
        if name not in grids:
            grids[name] = Grid(name, seeds, [0] * len(spec["budgets"]), writers)
        grids[name].budgets[budget] = row["budget"]
        grids[name].place((seed_at[seed], budget, writer_at[writer]), row)
    return list(grids.values())

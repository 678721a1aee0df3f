"""A finished run from its folder, its rows as arrays, and their summary with intervals.

Rows are counted before the spec is expanded: a manifest of a few bytes can name a hundred million
seeds, and only rows that really exist may cost memory.
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact, plain
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import open_regular
from memaudit.kernel.io.strict_json import first_fault
from memaudit.kernel.stats.bootstrap import (
    LEVEL,
    RESAMPLES,
    Floats,
    Indices,
    Interval,
    mean_intervals,
    resample_counts,
)
from memaudit.kernel.stats.paired_tests import holm, paired_differences
from memaudit.lab.sweeps.runs.run_files import RunRow
from memaudit.lab.sweeps.runs.spec import RunSpec, parse_seeds
from memaudit.lab.sweeps.runs.sweep import read_run, row_order
from memaudit.workspace.journal import Fits, read_journal
from memaudit.workspace.run_folder import ROWS

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run whose rows have been counted. They are checked one by one when they are read."""

    folder: Path
    manifest: dict[str, Any]
    spec: RunSpec
    fits: Fits

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows in the order of the spec."""
        number = 0
        for number, row in enumerate(read_journal(self.folder / ROWS), start=1):
            try:
                RunRow.model_validate(row)
            except ValidationError as error:
                raise self._wrong(number, first_fault(error)) from None
            if not self.fits(number - 1, row):
                raise self._wrong(number, "it is not the row that belongs here")
            yield row
        if number != self.spec.rows:
            raise not_finished(self.folder, number, self.spec.rows)

    def _wrong(self, number: int, what: str) -> MemAuditError:
        fix = "run the sweep again into a new folder"
        return MemAuditError(f"{self.folder / ROWS}, line {number}: {what}; {fix}")


def open_finished(folder: Path) -> FinishedRun:
    """The run of a folder, refused where rows are missing, before its spec is expanded."""
    # Rows are counted as lines first: a manifest of a few bytes may claim a hundred million seeds.
    manifest = read_run(folder)
    rows = count_rows(folder)
    if rows != manifest["rows"]:
        raise not_finished(folder, rows, manifest["rows"])
    stated = manifest["spec"]
    spec = RunSpec(
        tuple(stated["distributions"]),
        parse_seeds(f"{stated['seeds']},"),
        tuple(stated["budgets"]),
        tuple(stated["writers"]),
        stated.get("seconds"),
    )
    budgets = [plain(exact(manifest["budgets"][given])) for given in spec.budgets]
    return FinishedRun(folder, manifest, spec, row_order(spec, budgets))


def not_finished(folder: Path, rows: int, wanted: int) -> MemAuditError:
    """The error for rows that are missing, or too many."""
    return MemAuditError(
        f"{folder / ROWS} holds {rows} of {wanted} rows; finish the run with the same command"
    )


def count_rows(folder: Path) -> int:
    """How many lines the rows of a run have, complete or not."""
    path = folder / ROWS
    count = 0
    try:
        with open_regular(path, f"cannot read {path}") as file:
            while block := file.read(BLOCK):
                count += block.count(b"\n")
    except OSError as error:
        raise MemAuditError(f"cannot read {path}: {error.strerror or error}") from None
    return count


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
        # A row says that it is undefined for both reasons; without a certificate it is the other
        # one.
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
        before = len(number)
        for digest in grid.digests:
            number.setdefault(digest, len(number))
        # A distribution whose packages all occurred before has none of its own to draw.
        if len(number) > before:
            # One stream per distribution, by its place: results do not depend on the distributions
            # after it.
            drawn.append(resample_counts(len(number) - before, seed))
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


SUMMARY = "summary.json"
DIGITS = 6


def summarise(folder: Path) -> dict[str, Any]:
    """Read the rows of a run, and write and return its summary."""
    finished = open_finished(folder)
    summary = summary_of(finished.manifest, read_grids(finished.manifest, finished.rows()))
    write_file(folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
    return summary


def summary_of(manifest: dict[str, Any], grids: Sequence[Grid]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for grid in grids:
        # All budgets at once, column after column: they share draws and flips.
        ratios = grid.numbers["ratio"].reshape(len(grid.seeds), -1)
        resampling = package_resampling([grid])
        rows += _cells(grid, mean_intervals(ratios, resampling.drawn))
        pairs += _pairs(grid, ratios, resampling)
    return {
        "format": "memaudit-summary",
        "version": 1,
        "spec_digest": manifest["spec_digest"],
        "bootstrap": {"resamples": RESAMPLES, "level": LEVEL, "over": "distinct packages"},
        "undefined": "a ratio whose optimum is 0 or not certified is left out and counted",
        "rows": rows,
        "ranking": ranking(grids),
        "differences": pairs,
    }


def _cells(grid: Grid, means: Sequence[Interval]) -> list[dict[str, Any]]:
    """One row per budget and writer."""
    places = product(range(len(grid.budgets)), range(len(grid.writers)))
    return [
        {
            "distribution": grid.distribution,
            "budget": grid.budgets[place],
            "writer": grid.writers[column],
            "n": mean.n,
            "mean_ratio": _rounded(mean.mean),
            "ci_low": _rounded(mean.low),
            "ci_high": _rounded(mean.high),
            "mean_value": _mean(grid, "value", place, column),
            "mean_cost": _mean(grid, "cost", place, column),
            "mean_invalidation": _mean(grid, "invalidation", place, column),
            "mean_current": _mean(grid, "current", place, column),
            "mean_stale": _mean(grid, "stale", place, column),
            "zero_optimum": int(grid.zero[:, place, column].sum()),
            "uncertified": int(grid.uncertified[:, place, column].sum()),
            "failed": int(grid.failed[:, place, column].sum()),
            "distinct_packages": grid.distinct,
        }
        for (place, column), mean in zip(places, means, strict=True)
    ]


def _pairs(grid: Grid, ratios: Floats, resampling: PackageResampling) -> list[dict[str, Any]]:
    """Every two writers at each budget; p-values are corrected within a budget."""
    # Columns are budget by budget, writer by writer; pairs are of columns of one budget.
    writers = len(grid.writers)
    couples = list(combinations(range(writers), 2))
    budgets = range(len(grid.budgets))
    columns = [(place * writers + a, place * writers + b) for place in budgets for a, b in couples]
    results = paired_differences(ratios, columns, resampling.drawn, resampling.cluster)
    rows = []
    for place in budgets:
        here = results[place * len(couples) : (place + 1) * len(couples)]
        # Corrected within a budget: budgets are read one by one, and the same pair at two budgets
        # is nearly one test.
        adjusted = holm([difference.p for difference in here])
        rows += [
            {
                "distribution": grid.distribution,
                "budget": grid.budgets[place],
                "first": grid.writers[a],
                "second": grid.writers[b],
                "n": difference.n,
                "mean_difference": _rounded(difference.mean),
                "ci_low": _rounded(difference.low),
                "ci_high": _rounded(difference.high),
                "p": _rounded(difference.p),
                "p_holm": _rounded(corrected),
            }
            for (a, b), difference, corrected in zip(couples, here, adjusted, strict=True)
        ]
    return rows


def ranking(grids: Sequence[Grid]) -> list[dict[str, Any]]:
    """Writers by their mean ratio over all packages, each package its mean over budgets.

    Packages are resampled within their distribution, copies of one together.
    """
    values = np.concatenate([grid.by_package for grid in grids])
    drawn = package_resampling(grids).drawn
    ranked = [
        {
            "writer": writer,
            "n": mean.n,
            "left_out": len(values) - mean.n,
            "mean_ratio": _rounded(mean.mean),
            "ci_low": _rounded(mean.low),
            "ci_high": _rounded(mean.high),
        }
        for writer, mean in zip(grids[0].writers, mean_intervals(values, drawn), strict=True)
    ]
    return sorted(ranked, key=lambda row: (row["mean_ratio"] is None, -(row["mean_ratio"] or 0)))


def _mean(grid: Grid, name: str, place: int, column: int) -> float | None:
    numbers = grid.numbers[name][:, place, column]
    numbers = numbers[~np.isnan(numbers)]
    return _rounded(float(numbers.mean())) if len(numbers) else None


def _rounded(number: float) -> float | None:
    return None if math.isnan(number) else round(number, DIGITS)

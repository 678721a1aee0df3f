"""Bootstrap: how often data is resampled, and the percentiles that make an interval.

Means over packages (`mean_intervals`): packages are drawn with replacement, with the same draws for
every column, so differences between columns are paired. Undefined values are NaN and are left out.

Means over packages, layers of labels and runs (`layered_means`): three sources of uncertainty in
one draw.

Coefficients of tables (`table_intervals`): cells, or whole packages, are drawn with replacement,
with the same draws for every table. Cells with the same labels and weight form one class: how often
a class is drawn is multinomial and determines the draw. Each package is a class of its own.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.number_text import rounded

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

RESAMPLES = 2000
LEVEL = 0.95
TAILS = (100 * (1 - LEVEL) / 2, 100 - 100 * (1 - LEVEL) / 2)
"""The percentiles at the two ends of an interval."""


def outer_percentiles(values: Sequence[float] | Floats) -> tuple[float, float]:
    """The percentiles that leave LEVEL of the values between them; `values` must not be empty."""
    low, high = np.percentile(values, TAILS)
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class PercentileInterval:
    """The outer percentiles over draws; draws where the value is `undefined` are left out."""

    low: float
    high: float
    undefined: int


def column_percentiles(values: Floats) -> list[PercentileInterval | None]:
    """An interval per column (rows are draws); None where no draw defines a value."""
    result: list[PercentileInterval | None] = []
    for column in values.T:
        defined = column[~np.isnan(column)]
        if len(defined):
            undefined = len(column) - len(defined)
            result.append(PercentileInterval(*outer_percentiles(defined), undefined))
        else:
            result.append(None)
    return result


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over packages with its bootstrap interval; NaN where nothing is defined."""

    n: int
    mean: float
    low: float
    high: float

    @property
    def if_several(self) -> "Interval":
        """Without an interval for a single package: there is nothing to resample."""
        return self if self.n > 1 else replace(self, low=math.nan, high=math.nan)

    def to_json(self) -> dict[str, float | int | None]:
        """The mean with its interval, null where undefined."""
        ends = {"mean": self.mean, "ci_low": self.low, "ci_high": self.high}
        return {"n": self.n, **{name: rounded(end) for name, end in ends.items()}}


def resample_counts(packages: int, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """How often each package is drawn, one row per resample."""
    dice = np.random.default_rng(seed)
    drawn = dice.integers(0, packages, size=(resamples, packages))
    # Every resample has a range of numbers of its own, so that one count serves all of them.
    drawn += np.arange(resamples)[:, None] * packages
    counts = np.bincount(drawn.ravel(), minlength=resamples * packages)
    return counts.reshape(resamples, packages).astype(np.float64)


def mean_intervals(values: Floats, counts: Floats) -> list[Interval]:
    """One interval per column of `values` (packages by columns)."""
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)
    number = defined.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = filled.sum(axis=0) / number
        # A resample's mean is over the packages in it where the value is defined: the number of
        # these differs from draw to draw, so it is resampled with the sum.
        resampled = (counts @ filled) / (counts @ defined.astype(np.float64))
    undefined = PercentileInterval(np.nan, np.nan, len(resampled))
    return [
        Interval(int(n), float(mean), (ends or undefined).low, (ends or undefined).high)
        for n, mean, ends in zip(number, means, column_percentiles(resampled), strict=True)
    ]


def layered_means(tables: Sequence[Floats], layers: int, columns_seed: int) -> Floats:
    """The mean in every draw of packages, of one layer of labels for each, and of its columns.

    A table is that of a package: layers by columns. Packages and layers are drawn alike by every
    caller, so that differences are paired; of the columns as many are drawn as there are, with
    replacement. A draw without any value is NaN.
    """
    # Columns have dice of their own: however many a table has, every caller draws the same packages
    # and layers, and differences between callers stay paired.
    dice, of_columns = np.random.default_rng(0), np.random.default_rng(columns_seed)
    shape = (RESAMPLES, len(tables))
    chosen = dice.integers(0, len(tables), size=shape)
    layer = dice.integers(0, layers, size=shape)
    values = np.full(shape, np.nan)
    for at, table in enumerate(tables):
        here = chosen == at
        if table.size:
            columns = of_columns.integers(0, table.shape[1], size=(here.sum(), table.shape[1]))
            values[here] = table[layer[here][:, None], columns].mean(axis=1)
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(defined, values, 0.0).sum(axis=1) / defined.sum(axis=1)
    return means


def drawn_ends(means: Floats) -> tuple[float, float]:
    """The outer percentiles of the draws where a mean is defined; NaN if it never is."""
    (ends,) = column_percentiles(means[:, None])
    return (math.nan, math.nan) if ends is None else (ends.low, ends.high)


Measure = Callable[[Floats], Floats]
"""From tables, one per row with its entries side by side, to coefficients, one per column."""

AT_ONCE = 1 << 22
"""Counts in memory at once."""

BINOMIAL_COST = 8
"""A binomial number costs about as much as drawing this many single cells."""


@dataclass(frozen=True, slots=True)
class Pool:
    """What is drawn from: the class of every cell, and the number of members of each class."""

    classes: Indices
    sizes: Indices

    def tables(self, places: Indices, weights: Floats, width: int) -> Floats:
        """What one draw of each class adds to a table; `places` are -1 for cells left out."""
        used = places >= 0
        at = self.classes[used] * width + places[used]
        sums = np.bincount(at, weights[used], minlength=len(self.sizes) * width)
        table: Floats = sums.reshape(-1, width) / self.sizes[:, None]
        return table

    def draws(self, number: int, dice: np.random.Generator) -> Iterator[Floats]:
        """How often each class is drawn, one row per draw, in batches of rows."""
        members_in_all, kinds = int(self.sizes.sum()), len(self.sizes)
        step = max(1, AT_ONCE // max(members_in_all, kinds))
        members = np.repeat(np.arange(kinds, dtype=np.int32), self.sizes)
        for start in range(0, number, step):
            rows = min(step, number - start)
            # The same distribution twice: few large classes are faster drawn as a multinomial, many
            # small ones cell by cell.
            if kinds * BINOMIAL_COST < members_in_all:
                drawn = dice.multinomial(members_in_all, self.sizes / members_in_all, size=rows)
            else:
                size = (rows, members_in_all)
                singly = members[dice.integers(0, members_in_all, size=size, dtype=np.int32)]
                singly += np.arange(rows, dtype=np.int32)[:, None] * np.int32(kinds)
                drawn = np.bincount(singly.ravel(), minlength=rows * kinds).reshape(rows, kinds)
            yield drawn.astype(np.float64)


def pool_of_cells(profiles: Sequence[NDArray[np.generic]]) -> Pool:
    """Cells that are equal in every one of these arrays are one class."""
    # One column at a time: sorting whole rows is many times slower.
    classes = np.zeros(len(profiles[0]), np.int64)
    for column in profiles:
        _, values = np.unique(column, return_inverse=True)
        mixed = classes * (int(values.max()) + 1) + values
        _, classes = np.unique(mixed, return_inverse=True)
    return Pool(classes, np.bincount(classes))


def pool_of_packages(packages: Sequence[str]) -> Pool:
    """Every package is a class; `packages` names the package of each cell."""
    names, classes = np.unique(np.array(packages, dtype=object), return_inverse=True)
    return Pool(classes, np.ones(len(names), np.int64))


def table_intervals(
    pool: Pool,
    tables: Sequence[tuple[Floats, Measure]],
    number: int,
    dice: np.random.Generator,
) -> list[list[PercentileInterval | None]]:
    """For each table an interval for each of its coefficients; None where no draw defines one."""
    # All tables see the same draws, so that differences between coefficients are paired.
    side_by_side = np.concatenate([table for table, _ in tables], axis=1)
    edges = np.cumsum([table.shape[1] for table, _ in tables])[:-1]
    coefficients: list[list[Floats]] = [[] for _ in tables]
    for drawn in pool.draws(number, dice):
        totals = np.split(drawn @ side_by_side, edges, axis=1)  # one product is faster than many
        for values, table_draws, (_, measure) in zip(coefficients, totals, tables, strict=True):
            values.append(measure(table_draws))
    return [column_percentiles(np.concatenate(values)) for values in coefficients]

"""The coefficients of many tables at once, in floating point: NaN where one is not defined."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.label_audit.coding import Scale
from memaudit.stats.intervals import Floats, outer_percentiles

Measure = Callable[[Floats], Floats]
"""From tables, one a row with its entries side by side, to coefficients, one a column."""

NOTHING = 1e-12
"""Shares below this are rounding: weights are not whole numbers."""


def pair_measure(scale: Scale) -> Measure:
    """Kappa, raw agreement and each category's own agreement, as in `coefficients`."""
    # Products with 0 and 1 add up short rows much faster than sums along an axis.
    each, ones = np.eye(scale.size), np.ones((scale.size, 1))
    row_of, column_of = np.kron(each, ones), np.kron(ones, each)

    def measure(totals: Floats) -> Floats:
        rows, columns = totals @ row_of, totals @ column_of
        diagonal = totals[:, :: scale.size + 1]
        whole = (rows @ ones)[:, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            observed = (diagonal @ ones)[:, 0] / whole
            expected = np.einsum("dc,dc->d", rows, columns) / whole**2
            kappa = (observed - expected) / (1 - expected)
            kappa[1 - expected < NOTHING] = np.nan
            own = 2 * diagonal / (rows + columns)
        return np.column_stack([kappa, observed, own])

    return measure


def alpha_measure(scale: Scale, levels: tuple[str, ...]) -> Measure:
    """Krippendorff's alpha on each level, of tables of coincidences."""
    values = np.array([float(value) for value in scale.values])

    def measure(totals: Floats) -> Floats:
        tables = totals.reshape(-1, scale.size, scale.size)
        counts = tables.sum(axis=2)
        return np.column_stack([_alpha(tables, counts, _far(level, counts)) for level in levels])

    def _far(level: str, counts: Floats) -> Floats:
        if level == "nominal":
            gaps = 1.0 - np.eye(scale.size)[None]
        elif level == "interval":
            gaps = ((values[:, None] - values[None, :]) ** 2)[None]
        else:  # between the middles of two categories, in labels given
            middles = np.cumsum(counts, axis=1) - counts / 2
            gaps = (middles[:, :, None] - middles[:, None, :]) ** 2
        return np.asarray(gaps, np.float64)

    return measure


def _alpha(tables: Floats, counts: Floats, far: Floats) -> Floats:
    whole = counts.sum(axis=1)
    observed = (tables * far).sum(axis=(1, 2))
    expected = (counts[:, :, None] * counts[:, None, :] * far).sum(axis=(1, 2))
    used = (counts > NOTHING * whole[:, None]).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(used > 1, 1 - (whole - 1) * observed / expected, np.nan)
    return found


Whole = NDArray[np.int64]

AT_ONCE = 1 << 22
"""Counts in memory at once."""

DEAR = 8
"""A binomial number costs about as much as drawing this many single cells."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A percentile interval; draws where the coefficient is `undefined` are left out."""

    low: float
    high: float
    undefined: int


@dataclass(frozen=True, slots=True)
class Pool:
    """What is drawn from: the class of every cell, and how many things to draw a class holds."""

    classes: Whole
    sizes: Whole

    def gathered(self, places: Whole, weights: Floats, width: int) -> Floats:
        """Per class, what one draw of it adds to a table; `places` are -1 for cells left out."""
        kept = places >= 0
        at = self.classes[kept] * width + places[kept]
        sums = np.bincount(at, weights[kept], minlength=len(self.sizes) * width)
        table: Floats = sums.reshape(-1, width) / self.sizes[:, None]
        return table

    def summed(self, rows: Floats) -> Floats:
        """The same for cells that each add a whole row to the table."""
        columns = [np.bincount(self.classes, column, len(self.sizes)) for column in rows.T]
        table: Floats = np.stack(columns, axis=1) / self.sizes[:, None]
        return table

    def draws(self, number: int, dice: np.random.Generator) -> Iterator[Floats]:
        """How often each class is drawn, one row a draw, some rows at a time."""
        things, kinds = int(self.sizes.sum()), len(self.sizes)
        step = max(1, AT_ONCE // max(things, kinds))
        members = np.repeat(np.arange(kinds, dtype=np.int32), self.sizes)
        for start in range(0, number, step):
            rows = min(step, number - start)
            if kinds * DEAR < things:
                drawn = dice.multinomial(things, self.sizes / things, size=rows)
            else:
                singly = members[dice.integers(0, things, size=(rows, things), dtype=np.int32)]
                singly += np.arange(rows, dtype=np.int32)[:, None] * np.int32(kinds)
                drawn = np.bincount(singly.ravel(), minlength=rows * kinds).reshape(rows, kinds)
            yield drawn.astype(np.float64)


def pool_of_cells(profiles: Sequence[NDArray[np.generic]]) -> Pool:
    """Cells alike in every one of these arrays are one class."""
    # One column a time: sorting whole rows is many times slower.
    classes = np.zeros(len(profiles[0]), np.int64)
    for column in profiles:
        _, found = np.unique(column, return_inverse=True)
        mixed = classes * (int(found.max()) + 1) + found
        _, classes = np.unique(mixed, return_inverse=True)
    return Pool(classes, np.bincount(classes))


def pool_of_packages(packages: Sequence[str]) -> Pool:
    """Every package is a class."""
    names, classes = np.unique(np.array(packages, dtype=object), return_inverse=True)
    return Pool(classes, np.ones(len(names), np.int64))


def bootstrap(
    pool: Pool,
    tables: Sequence[tuple[Floats, Measure]],
    number: int,
    dice: np.random.Generator,
) -> list[list[Bounds | None]]:
    """For each table an interval for each of its coefficients; None where no draw defines one."""
    side_by_side = np.concatenate([table for table, _ in tables], axis=1)
    edges = np.cumsum([table.shape[1] for table, _ in tables])[:-1]
    found: list[list[Floats]] = [[] for _ in tables]
    for drawn in pool.draws(number, dice):
        totals = np.split(drawn @ side_by_side, edges, axis=1)  # one product is faster than many
        for values, own, (_, measure) in zip(found, totals, tables, strict=True):
            values.append(measure(own))
    return [percentiles(np.concatenate(values)) for values in found]


def within(
    counts: Whole, measure: Measure, number: int, dice: np.random.Generator
) -> list[Bounds | None]:
    """Intervals for the first two coefficients of one table, whose cells alone are drawn from."""
    cells = int(counts.sum())
    drawn = dice.multinomial(cells, counts / cells, size=number)
    return percentiles(measure(drawn.astype(np.float64))[:, :2])


def percentiles(values: Floats) -> list[Bounds | None]:
    """The outer percentiles of each column."""
    result: list[Bounds | None] = []
    for column in values.T:
        defined = column[~np.isnan(column)]
        if len(defined):
            result.append(Bounds(*outer_percentiles(defined), len(column) - len(defined)))
        else:
            result.append(None)
    return result

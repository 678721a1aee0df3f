"""Bootstrap: cells, or whole packages, are drawn with replacement; the same draws for every table.

Cells whose labels and weight are all alike are one class: how often a class is drawn is multinomial
and says all there is to know about a draw. A package is a class of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.agreement.vectors import Measure
from memaudit.audits.statistics import Floats, outer_percentiles

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

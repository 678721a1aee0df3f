"""Part of a run: one distribution or all, one budget or all; its ranking and every two rows.

The numbers are those of the rest of the program: of one distribution, each distinct package once,
as in summary.json; of all distributions, resampled within each, as in the ranking.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from memaudit.audits.statistics import Difference, Floats, Interval, differences, draws, holm
from memaudit.audits.statistics import intervals as find_intervals
from memaudit.experiments.grid import Grid
from memaudit.report.page.cast import Member
from memaudit.report.page.run import Run
from memaudit.report.page.standing import CLEAR


@dataclass(frozen=True, slots=True)
class Place:
    """A writer's place in the slice."""

    number: int
    member: Member
    found: Interval


@dataclass(frozen=True, slots=True)
class Pair:
    """Two writers, first minus second, package by package."""

    first: Member
    second: Member
    found: Difference
    p_holm: float

    @property
    def verdict(self) -> str:
        """In words, whether the two can be told apart."""
        if self.found.n == 0:
            return "nothing to compare"
        if self.found.mean == self.found.low == self.found.high == 0:
            return "the same on every package"
        return "told apart" if self.p_holm < CLEAR else "not told apart"


@dataclass(frozen=True, slots=True)
class Slice:
    """A ranking, the best first, and every two of its writers in that order."""

    distribution: str | None
    budget: int | None
    packages: int
    places: tuple[Place, ...]
    pairs: tuple[Pair, ...]

    def pair(self, first: str, second: str) -> Pair | None:
        """Two writers by name, in either order: the sign follows the order asked for."""
        for one in self.pairs:
            names = (one.first.name, one.second.name)
            if names == (first, second):
                return one
            if names == (second, first):
                found = one.found
                turned = Difference(found.n, -found.mean, -found.high, -found.low, found.p)
                return Pair(one.second, one.first, turned, one.p_holm)
        return None


def slice_of(run: Run, distribution: str | None = None, budget: int | None = None) -> Slice:
    """One distribution by name, and one budget by its place; None means all of them."""
    grids = [grid for grid in run.grids if distribution in (None, grid.distribution)]
    values, drawn = _numbers(grids, budget, distinct=distribution is not None)
    members = list(run.members.values())
    found = find_intervals(values, drawn)
    order = sorted(range(len(members)), key=lambda at: _rank(found[at]))
    places = [Place(n, members[at], found[at]) for n, at in enumerate(order, start=1)]
    couples = list(combinations(order, 2))
    gaps = differences(values, couples, drawn)
    corrected = holm([gap.p for gap in gaps])
    pairs = [
        Pair(members[a], members[b], gap, p)
        for (a, b), gap, p in zip(couples, gaps, corrected, strict=True)
    ]
    return Slice(distribution, budget, len(values), tuple(places), tuple(pairs))


def _numbers(grids: Sequence[Grid], budget: int | None, distinct: bool) -> tuple[Floats, Floats]:
    """Ratios, packages by writers, and how often each package is drawn."""
    parts, drawn = [], []
    for number, grid in enumerate(grids):
        values = grid.by_package if budget is None else grid.numbers["ratio"][:, budget]
        parts.append(values[grid.distinct] if distinct else values)
        drawn.append(draws(len(parts[-1]), seed=number))
    return np.concatenate(parts), np.concatenate(drawn, axis=1)


def _rank(found: Interval) -> tuple[bool, float]:
    return (found.n == 0, -found.mean if found.n else 0.0)

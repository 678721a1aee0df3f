"""Part of a run: one distribution or all, one budget or all; its ranking and every two rows.

The numbers are those of the rest of the program: of one distribution as in summary.json, of all of
them as in the ranking and the report.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from memaudit.experiments.grid import evidence
from memaudit.report.page.cast import Member
from memaudit.report.page.run import Run
from memaudit.report.page.standing import Pair, compared
from memaudit.stats.intervals import Difference, Interval, intervals


@dataclass(frozen=True, slots=True)
class Place:
    """A writer's place in the slice."""

    number: int
    member: Member
    found: Interval


@dataclass(frozen=True, slots=True)
class Slice:
    """A ranking, the best first, and every two of its writers in that order."""

    distribution: str | None
    budget: int | None
    packages: int
    distinct: int
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
    values = np.concatenate([
        grid.by_package if budget is None else grid.numbers["ratio"][:, budget] for grid in grids
    ])  # fmt: skip
    known = evidence(grids)
    members = list(run.members.values())
    found = intervals(values, known.drawn)
    order = sorted(range(len(members)), key=lambda at: _rank(found[at]))
    places = [Place(n, members[at], found[at]) for n, at in enumerate(order, start=1)]
    pairs = compared(run, values, list(combinations(order, 2)), known)
    return Slice(
        distribution, budget, len(values), int(known.cluster.max()) + 1, tuple(places), pairs
    )


def _rank(found: Interval) -> tuple[bool, float]:
    return (found.n == 0, -found.mean if found.n else 0.0)

"""Part of a run: one distribution or all, one budget or all; its ranking and every two rows.

The numbers are those of the rest of the program: of one distribution as in summary.json, of all of
them as in the ranking and the report.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from memaudit.experiments.grid import package_resampling
from memaudit.report.run_report.ranking import Pair, compared
from memaudit.report.run_report.run_data import Run
from memaudit.report.writer_groups import Member
from memaudit.stats.bootstrap import Interval, mean_intervals
from memaudit.stats.paired_tests import Difference


@dataclass(frozen=True, slots=True)
class SlicePlace:
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
    places: tuple[SlicePlace, ...]
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
    known = package_resampling(grids)
    members = list(run.members.values())
    found = mean_intervals(values, known.drawn)
    order = sorted(range(len(members)), key=lambda at: _rank(found[at]))
    places = [SlicePlace(n, members[at], found[at]) for n, at in enumerate(order, start=1)]
    pairs = compared(run, values, list(combinations(order, 2)), known)
    return Slice(
        distribution, budget, len(values), int(known.cluster.max()) + 1, tuple(places), pairs
    )


def _rank(found: Interval) -> tuple[bool, float]:
    return (found.n == 0, -found.mean if found.n else 0.0)


DIGITS = 6


def slice_data(run: Run, part: Slice) -> dict[str, Any]:
    """Places and pairs by the writers' places in the run; what is not defined is null."""
    at = {name: place for place, name in enumerate(run.members)}
    return {
        "packages": part.packages,
        "distinct": part.distinct,
        "places": [
            [at[one.member.name], one.found.n, *_numbers(one.found.mean, one.found.low,
                                                         one.found.high)]
            for one in part.places
        ],
        "pairs": [
            [at[one.first.name], at[one.second.name], one.found.n,
             *_numbers(one.found.mean, one.found.low, one.found.high, one.found.p, one.p_holm),
             one.verdict]
            for one in part.pairs
        ],
    }  # fmt: skip


def _numbers(*numbers: float) -> list[float | None]:
    return [None if math.isnan(number) else round(number, DIGITS) for number in numbers]

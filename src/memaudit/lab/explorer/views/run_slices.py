"""Ranking and pairs of writers for one distribution or all, and one budget or all.

The numbers equal those of summary.json for one distribution, and those of the ranking and the
report for all of them.
"""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from memaudit.kernel.stats.bootstrap import Interval, mean_intervals
from memaudit.kernel.stats.paired_tests import Difference
from memaudit.lab.runs.report.run_grids import FinishedRunData, WriterPair, compare_pairs
from memaudit.lab.runs.summary import package_resampling
from memaudit.show.writer_groups import Member


@dataclass(frozen=True, slots=True)
class SlicePlace:
    """A writer's place in the slice."""

    number: int
    member: Member
    interval: Interval


@dataclass(frozen=True, slots=True)
class Slice:
    """A ranking, the best first, and every pair of its writers in that order."""

    distribution: str | None
    budget: int | None
    packages: int
    distinct: int
    places: tuple[SlicePlace, ...]
    pairs: tuple[WriterPair, ...]

    def pair(self, first: str, second: str) -> WriterPair | None:
        """Two writers by name. The sign follows the order of the arguments."""
        for pair in self.pairs:
            names = (pair.first.name, pair.second.name)
            if names == (first, second):
                return pair
            if names == (second, first):
                known = pair.difference
                reverse = Difference(known.n, -known.mean, -known.high, -known.low, known.p)
                return WriterPair(pair.second, pair.first, reverse, pair.p_holm)
        return None


def slice_of(
    run: FinishedRunData, distribution: str | None = None, budget: int | None = None
) -> Slice:
    """One distribution by name, and one budget by its place; None means all of them."""
    grids = [grid for grid in run.grids if distribution in (None, grid.distribution)]
    values = np.concatenate(
        [grid.by_package if budget is None else grid.numbers["ratio"][:, budget] for grid in grids]
    )
    known = package_resampling(grids)
    members = list(run.members.values())
    means = mean_intervals(values, known.drawn)
    order = sorted(
        range(len(members)),
        key=lambda at: (means[at].n == 0, -means[at].mean if means[at].n else 0.0),
    )
    places = [SlicePlace(n, members[at], means[at]) for n, at in enumerate(order, start=1)]
    pairs = compare_pairs(run, values, list(combinations(order, 2)), known)
    return Slice(
        distribution, budget, len(values), int(known.cluster.max()) + 1, tuple(places), pairs
    )


DIGITS = 6


def slice_data(run: FinishedRunData, part: Slice) -> dict[str, Any]:
    """Places and pairs by the writers' places in the run; what is not defined is null."""
    at = {name: place for place, name in enumerate(run.members)}
    return {
        "packages": part.packages,
        "distinct": part.distinct,
        "places": [
            [
                at[place.member.name],
                place.interval.n,
                *_numbers(place.interval.mean, place.interval.low, place.interval.high),
            ]
            for place in part.places
        ],
        "pairs": [
            [
                at[pair.first.name],
                at[pair.second.name],
                known.n,
                *_numbers(known.mean, known.low, known.high, known.p, pair.p_holm),
                pair.verdict,
            ]
            for pair in part.pairs
            for known in [pair.difference]
        ],
    }


def _numbers(*numbers: float) -> list[float | None]:
    return [None if math.isnan(number) else round(number, DIGITS) for number in numbers]

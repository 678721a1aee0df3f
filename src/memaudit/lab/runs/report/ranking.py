"""The ranking and its parts: intervals, budgets, distributions, and neighbours compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memaudit.kernel.stats.bootstrap import Floats, Interval, mean_intervals
from memaudit.kernel.stats.paired_tests import Difference, holm, paired_differences
from memaudit.lab.runs.report.run_grids import FinishedRunData
from memaudit.lab.runs.summary import PackageResampling, package_resampling, ranking
from memaudit.show.writer_groups import Member

CLEAR = 0.05
"""A Holm-corrected p-value below this distinguishes two writers."""


@dataclass(frozen=True, slots=True)
class RankingPlace:
    """A writer's rank, with what was left out of its mean."""

    number: int
    member: Member
    n: int
    mean: float | None
    low: float | None
    high: float | None
    zero: int
    uncertified: int
    failed: int
    by_budget: tuple[Interval, ...]
    by_distribution: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class WriterPair:
    """Two writers compared package by package, first minus second."""

    first: Member
    second: Member
    difference: Difference
    p_holm: float

    @property
    def verdict(self) -> str:
        """Whether the two can be distinguished, as text."""
        if self.difference.n == 0:
            return "nothing to compare"
        if self.difference.mean == self.difference.low == self.difference.high == 0:
            return "the same on every package"
        return "distinguished" if self.p_holm < CLEAR else "not distinguished"


@dataclass(frozen=True, slots=True)
class WriterRanking:
    """The ranking, and each writer compared with the next one."""

    places: tuple[RankingPlace, ...]
    neighbours: tuple[WriterPair, ...]


def rank_writers(run: FinishedRunData) -> WriterRanking:
    grids, writers = run.grids, list(run.members)
    column = {name: at for at, name in enumerate(writers)}
    known = package_resampling(grids)
    budgets = [
        mean_intervals(np.concatenate([g.numbers["ratio"][:, place] for g in grids]), known.drawn)
        for place in range(len(run.budgets))
    ]
    distributions = [
        mean_intervals(grid.by_package, package_resampling([grid]).drawn) for grid in grids
    ]
    places = []
    for number, row in enumerate(ranking(grids), start=1):
        at = column[row["writer"]]
        places.append(
            RankingPlace(
                number,
                run.members[row["writer"]],
                row["n"],
                row["mean_ratio"],
                row["ci_low"],
                row["ci_high"],
                zero=sum(int(grid.zero[:, :, at].sum()) for grid in grids),
                uncertified=sum(int(grid.uncertified[:, :, at].sum()) for grid in grids),
                failed=sum(int(grid.failed[:, :, at].sum()) for grid in grids),
                by_budget=tuple(means[at] for means in budgets),
                by_distribution=tuple(means[at] for means in distributions),
            )
        )
    values = np.concatenate([grid.by_package for grid in grids])
    couples = list(pairwise(column[place.member.name] for place in places))
    return WriterRanking(tuple(places), compare_pairs(run, values, couples, known))


def compare_pairs(
    run: FinishedRunData,
    values: Floats,
    couples: Sequence[tuple[int, int]],
    known: PackageResampling,
) -> tuple[WriterPair, ...]:
    """Pairs of writers, by their places in the run, with Holm's correction over all pairs."""
    differences = paired_differences(values, couples, known.drawn, known.cluster)
    corrected = holm([difference.p for difference in differences])
    members = list(run.members.values())
    return tuple(
        WriterPair(members[a], members[b], difference, p)
        for (a, b), difference, p in zip(couples, differences, corrected, strict=True)
    )

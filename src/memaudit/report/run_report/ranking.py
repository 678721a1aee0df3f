"""The ranking and its parts: intervals, budgets, distributions, and neighbours compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memaudit.experiments.grid import PackageResampling, package_resampling
from memaudit.experiments.summary import ranking
from memaudit.report.run_report.run_data import Run
from memaudit.report.writer_groups import Member
from memaudit.stats.bootstrap import Floats, Interval, mean_intervals
from memaudit.stats.paired_tests import Difference, holm, paired_differences

CLEAR = 0.05
"""A Holm-corrected p-value below this tells two writers apart."""


@dataclass(frozen=True, slots=True)
class Place:
    """A writer's place in the ranking, with what was left out of its mean."""

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
class Standing:
    """The whole ranking, and each writer with the next one."""

    places: tuple[Place, ...]
    neighbours: tuple[Pair, ...]


def standing(run: Run) -> Standing:
    """Rank the writers of a run."""
    grids, writers = run.grids, list(run.members)
    column = {name: at for at, name in enumerate(writers)}
    known = package_resampling(grids)
    budgets = [
        mean_intervals(np.concatenate([g.numbers["ratio"][:, place] for g in grids]), known.drawn)
        for place in range(len(run.budgets))
    ]
    kinds = [mean_intervals(grid.by_package, package_resampling([grid]).drawn) for grid in grids]
    places = []
    for number, row in enumerate(ranking(grids), start=1):
        at = column[row["writer"]]
        places.append(
            Place(
                number, run.members[row["writer"]], row["n"],
                row["mean_ratio"], row["ci_low"], row["ci_high"],
                zero=sum(int(grid.zero[:, :, at].sum()) for grid in grids),
                uncertified=sum(int(grid.uncertified[:, :, at].sum()) for grid in grids),
                failed=sum(int(grid.failed[:, :, at].sum()) for grid in grids),
                by_budget=tuple(found[at] for found in budgets),
                by_distribution=tuple(found[at] for found in kinds),
            )
        )  # fmt: skip
    values = np.concatenate([grid.by_package for grid in grids])
    couples = list(pairwise(column[place.member.name] for place in places))
    return Standing(tuple(places), compared(run, values, couples, known))


def compared(
    run: Run, values: Floats, couples: Sequence[tuple[int, int]], known: PackageResampling
) -> tuple[Pair, ...]:
    """Some writers by their places in the run, two by two; Holm's correction over all of them."""
    found = paired_differences(values, couples, known.drawn, known.cluster)
    corrected = holm([one.p for one in found])
    members = list(run.members.values())
    return tuple(
        Pair(members[a], members[b], one, p)
        for (a, b), one, p in zip(couples, found, corrected, strict=True)
    )

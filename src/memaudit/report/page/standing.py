"""The ranking and its parts: intervals, budgets, distributions, and neighbours compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from memaudit.audits.statistics import Difference, Floats, Interval, differences, draws, holm
from memaudit.audits.statistics import intervals as find_intervals
from memaudit.experiments.summary import ranking
from memaudit.report.page.cast import Member
from memaudit.report.page.run import Run

CLEAR = 0.05
"""A Holm-corrected p-value below this tells two neighbours apart."""


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
class Neighbours:
    """A writer and the next one in the ranking: first minus second, package by package."""

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
    """The whole ranking."""

    places: tuple[Place, ...]
    neighbours: tuple[Neighbours, ...]


def standing(run: Run) -> Standing:
    """Rank the writers of a run."""
    grids, writers = run.grids, list(run.members)
    column = {name: at for at, name in enumerate(writers)}
    sizes = [len(grid.seeds) for grid in grids]
    drawn = np.concatenate([draws(size, seed=i) for i, size in enumerate(sizes)], axis=1)
    budgets = [
        find_intervals(np.concatenate([g.numbers["ratio"][:, place] for g in grids]), drawn)
        for place in range(len(run.budgets))
    ]
    kinds = [
        find_intervals(grid.by_package, draws(len(grid.seeds), seed=i))
        for i, grid in enumerate(grids)
    ]
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
    pairs = list(pairwise(column[place.member.name] for place in places))
    return Standing(tuple(places), tuple(_neighbours(run, values, pairs, drawn)))


def _neighbours(
    run: Run, values: Floats, pairs: Sequence[tuple[int, int]], drawn: Floats
) -> list[Neighbours]:
    found = differences(values, pairs, drawn)
    corrected = holm([one.p for one in found])
    members = list(run.members.values())
    return [
        Neighbours(members[a], members[b], one, p)
        for (a, b), one, p in zip(pairs, found, corrected, strict=True)
    ]

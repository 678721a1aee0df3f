"""Which package is told in full: where a middling writer falls furthest short of OPT."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from memaudit.report.page.cast import OPT
from memaudit.report.page.run import Run


@dataclass(frozen=True, slots=True)
class Choice:
    """A package and a budget, with the median ratio of the writers there."""

    distribution: str
    seed: int
    budget: Fraction
    median: float


def choose(run: Run) -> Choice | None:
    """At the middle budget, the lowest median ratio over writers but OPT; ties go to the first.

    Where that budget has no ratio at all, the next larger one is tried, then the smaller ones.
    """
    order = sorted(range(len(run.amounts)), key=lambda place: run.amounts[place])
    middle = len(order) // 2
    others = [at for at, name in enumerate(run.members) if name != OPT]
    others = others or list(range(len(run.members)))
    for place in (*order[middle:], *reversed(order[:middle])):
        best: Choice | None = None
        for grid in run.grids:
            ratios = grid.numbers["ratio"][:, place][:, others]
            for row, seed in enumerate(grid.seeds):
                defined = ratios[row][~np.isnan(ratios[row])]
                if not len(defined):
                    continue
                median = float(np.median(defined))
                if best is None or median < best.median:
                    best = Choice(grid.distribution, seed, run.amounts[place], median)
        if best is not None:
            return best
    return None

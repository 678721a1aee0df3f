"""OPT at every budget for a few packages, with what the writers reached at the run's budgets."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.exact import exact
from memaudit.report.page.cast import OPT, Member
from memaudit.report.page.packages import Remade
from memaudit.report.page.run import Run
from memaudit.solvers.frontier import frontier

MOST_CURVES, FEWEST_CURVES = 6, 3
MOST_CANDIDATES, MOST_BUDGET = 200, 2000
"""Beyond these a curve takes long; OPT is then shown at the run's own budgets only."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What one writer reached at one budget; None where it failed."""

    member: Member
    budget: Fraction
    value: float | None


@dataclass(frozen=True, slots=True)
class Curve:
    """One package: the budgets at which OPT rises, and every writer's values."""

    distribution: str
    seed: int
    steps: tuple[tuple[int, float], ...]
    last: int
    optima: tuple[tuple[Fraction, float], ...]
    reached: tuple[Reached, ...]

    @property
    def name(self) -> str:
        return f"{self.distribution}, seed {self.seed}"

    @property
    def top(self) -> float:
        """The largest value shown."""
        values = [value for _, value in (*self.steps, *self.optima)]
        return max(values, default=0.0)


def choose_packages(run: Run) -> list[tuple[str, int]]:
    """The first package of every distribution; of few distributions, some more of each."""
    names = [grid.distribution for grid in run.grids][:MOST_CURVES]
    each = math.ceil(FEWEST_CURVES / len(names))
    found = []
    for grid in run.grids[: len(names)]:
        different = run.seeds if grid.distinct > 1 else run.seeds[:1]
        found += [(grid.distribution, seed) for seed in different[:each]]
    return found


def curves(run: Run, packages: Sequence[Remade]) -> list[Curve]:
    """The curves of packages of a run."""
    return [_curve(run, one) for one in packages]


def _curve(run: Run, one: Remade) -> Curve:
    largest = max(run.amounts)
    last = max(1, math.ceil(largest * Fraction(9, 8)))
    steps: tuple[tuple[int, float], ...] = ()
    if len(one.package.candidates) <= MOST_CANDIDATES and last <= MOST_BUDGET:
        rises = frontier(one.package, last).steps()
        steps = tuple((budget, float(value)) for budget, value in rises if budget < last)
    optima = {exact(row["budget"]): row["optimum"] for row in one.rows if row["certificate"]}
    return Curve(
        distribution=one.distribution,
        seed=one.seed,
        steps=steps,
        last=last,
        optima=tuple(sorted(optima.items())),
        reached=tuple(
            Reached(run.members[row["writer"]], exact(row["budget"]), row["value"])
            for row in one.rows
            if row["writer"] != OPT
        ),
    )

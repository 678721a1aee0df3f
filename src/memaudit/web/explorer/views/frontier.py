"""OPT along the budget, as far as a time limit lets it be proven.

Every point is a certified solve. Between two solved budgets, OPT lies between their values; where
those are equal, or where the dearer store costs the next possible amount already, nothing between
them is unknown. The stretch with the largest area of doubt is cut first, so that the curve is good
before it is whole.
"""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from memaudit.core.optimum import Optimum
from memaudit.solvers.protocol import STOP
from memaudit.solvers.solve import PackageSolver
from memaudit.writers.protocol import OracleView

ONE_SOLVE = 2.0
"""Seconds that one budget may take; what is not proven by then is not called an optimum."""

TRIES = 2
"""The first solve of a process loads the compiled code, and may lose its time to that."""

MOST_UNPROVEN = 6
"""After so many budgets without proof the package is too hard for a curve."""


@dataclass(frozen=True, slots=True)
class Step:
    """From `budget` on OPT is `value`, reached by `store`; at most `bound` if not certified."""

    budget: Fraction
    value: Fraction
    store: tuple[str, ...]
    certified: bool
    bound: Fraction


@dataclass(frozen=True, slots=True)
class Frontier:
    """The steps that are known; `whole` if there are no others."""

    steps: tuple[Step, ...]
    whole: bool
    note: str
    given: tuple[Fraction, ...]

    def at(self, budget: Fraction) -> Step:
        """The last step that the budget pays for."""
        return max(
            (step for step in self.steps if step.budget <= budget),
            key=lambda step: (step.budget, step.value), default=self.steps[0],
        )  # fmt: skip


class Search:
    """The frontier of one package, worked on in slices of time; `given` budgets come first."""

    def __init__(self, oracle: OracleView, given: Iterable[Fraction] = ()) -> None:
        self._oracle = oracle
        self.given = tuple(sorted(set(given)))
        self._lock = threading.Lock()
        self._solved: dict[Fraction, Optimum] = {}
        self._tries: dict[Fraction, int] = {}
        self._tried_long: set[Fraction] = set()
        self.spent = 0.0

    def work(self, seconds: float) -> Frontier:
        """Go on for some time, and say what is known then."""
        with self._lock:
            started = time.monotonic()
            solver = self._oracle.solver
            while time.monotonic() - started < seconds and not STOP.is_set():
                budget = self._next(solver)
                if budget is None:
                    break
                self._tries[budget] = self._tries.get(budget, 0) + 1
                self._solved[budget] = solver.solve(budget, seconds=ONE_SOLVE)
            self.spent += time.monotonic() - started
            return self._known(solver)

    def optimum(self, budget: Fraction) -> Optimum:
        """OPT at one budget, solved now unless it is known, or known to be too hard."""
        with self._lock:
            solver = self._oracle.solver
            known = self._solved.get(budget)
            if known is None or not (known.certified or budget in self._tried_long):
                self._tried_long.add(budget)
                known = self._solved[budget] = solver.solve(budget, seconds=10 * ONE_SOLVE)
            return known

    def _next(self, solver: PackageSolver) -> Fraction | None:
        """The budget to solve next; None where all is known, or nothing more can be proven."""
        everything = Fraction(sum(solver.form.cost), solver.form.cost_scale)
        unproven = [budget for budget, one in self._solved.items() if not one.certified]
        again = [budget for budget in unproven if self._tries.get(budget, TRIES) < TRIES]
        unseen = [b for b in (*self.given, everything, Fraction(0)) if b not in self._solved]
        if again or unseen:
            return (*again, *unseen)[0]
        if len(unproven) > MOST_UNPROVEN:
            return None
        doubts = [(area, place) for area, place in self._doubts(solver) if area > 0]
        return max(doubts)[1] if doubts else None

    def _doubts(self, solver: PackageSolver) -> Iterable[tuple[Fraction, Fraction]]:
        """Stretches where OPT is not known: the area of doubt, and a budget in the middle."""
        grain = Fraction(1, solver.form.cost_scale)
        proven = [self._solved[b] for b in sorted(self._solved) if self._solved[b].certified]
        for low, high in pairwise(proven):
            last = high.cost - grain
            if _worth(low) == _worth(high) or last <= low.budget:
                continue
            steps = int((last - low.budget) / grain)
            middle = low.budget + grain * max(1, steps // 2)
            if middle not in self._solved:
                yield (_worth(high) - _worth(low)) * (last - low.budget), middle

    def _known(self, solver: PackageSolver) -> Frontier:
        steps: list[Step] = []
        for budget in sorted(self._solved):
            found = self._solved[budget]
            step = Step(found.cost, found.value, found.store, found.certified, found.bound)
            if not found.certified:
                step = Step(budget, found.value, found.store, False, found.bound)
            if steps and steps[-1].certified and found.certified and steps[-1].value >= found.value:
                continue  # the cheaper store is worth as much
            steps.append(step)
        steps.sort(key=lambda step: step.budget)
        open_ = next(iter(self._doubts(solver)), None) is not None
        unproven = [step for step in steps if not step.certified]
        ended = self._next(solver) is None
        whole = ended and not open_ and not unproven
        note = self._note(steps, whole, len(unproven), ended)
        return Frontier(tuple(steps), whole, note, self.given)

    def _note(self, steps: list[Step], whole: bool, unproven: int, ended: bool) -> str:
        if whole:
            return f"Exact at every budget: OPT has {len(steps)} steps, each with a checked proof."
        proven = len(steps) - unproven
        so_far = "" if ended else " so far"
        text = (
            f"OPT is proven at {proven} budgets{so_far}; between two of them it lies between their "
            "values."
        )
        if unproven:
            text += f" At {unproven} the time ran out: the store shown is the best one found."
        return text


def _worth(found: Optimum) -> Fraction:
    """What the solver maximised: the upper end where some h is irrational."""
    return found.value if found.value_high is None else found.value_high

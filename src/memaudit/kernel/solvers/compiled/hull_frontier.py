"""The optimum of every budget of a range, where units have at most two levels (hull.py).

One linear programme is kept while the budget is lowered step by step: a few pivots each. Its duals
bound the optimum in integers, its x rounded gives stores, and a store counts from its cost on. Only
budgets at which the two do not meet are searched.
"""

from dataclasses import dataclass, replace

import numpy as np

from memaudit.kernel.solvers.compiled.hull import (
    bound_by_hulls,
    move_budget,
    multipliers,
    new_tableau,
)
from memaudit.kernel.solvers.compiled.hull_solve import Found, HullSearch, Relaxed, pace_of
from memaudit.kernel.solvers.compiled.hull_tree import STOPPED
from memaudit.kernel.solvers.compiled.layout import choose_layout
from memaudit.kernel.solvers.compiled.primal import drop_waste, improve
from memaudit.kernel.solvers.compiled.problem import OpenProblem
from memaudit.kernel.solvers.compiled.simplex import UNBOUNDED, set_bounds
from memaudit.kernel.solvers.compiled.stage import Stage, Trace
from memaudit.kernel.solvers.compiled.types import FREE, Flags, Ints, seal
from memaudit.kernel.solvers.protocol import Limits

ROUNDS, LEAST = 6, 0.01
"""Rounds of cuts at a budget, and how little of a fall does not count as progress."""

MOST_NAMES = 15_000
"""Rows after which a fresh tableau is begun."""


@dataclass(frozen=True, slots=True)
class Point:
    """The optimum of a budget: its value and store; a value of -1 where it is not known."""

    value: int
    store: tuple[int, ...]


def sweep(state: OpenProblem, budgets: list[int], group_names: Ints, limits: Limits) -> list[Point]:
    """The optima of rising budgets; at a limit, the lowest are missing."""
    return _Sweep(state, budgets, group_names, limits).run()


class _Sweep:
    def __init__(
        self, state: OpenProblem, budgets: list[int], group_names: Ints, limits: Limits
    ) -> None:
        self.state, self.budgets, self.limits = state, budgets, limits
        self.group_names, self.core = group_names, seal(state.core)
        core = state.core
        self.low = [Point(-1, ())] * len(budgets)
        self.high = int(core.table[core.table_start[1:] - 1].sum())
        self.levels = np.zeros((2, len(core.top)), np.int64)
        prices = np.zeros(len(core.unit), np.int64)
        self.stage = Stage(state, choose_layout(core, dense=True), prices, Trace(group_names))
        self.dearest = np.argsort(-core.cost, kind="stable")
        self._start(budgets[-1])

    def _start(self, budget: int) -> None:
        """A fresh tableau."""
        self.tableau = new_tableau(self.state.core, budget, np.zeros(1, np.int64))
        self.lp, self.at, self.shut = seal(self.tableau), budget, 0
        self.values = np.zeros(self.tableau.columns)

    def run(self) -> list[Point]:
        points: list[Point] = []
        for place in range(len(self.budgets) - 1, -1, -1):
            if self.low[place].value < self.high and not self._settle(place):
                break
            points.append(self.low[place])
        return points[::-1]

    def _settle(self, place: int) -> bool:
        """Find the optimum of a budget; False at a limit."""
        budget, core = self.budgets[place], self.state.core
        relaxed = self._relax(budget)
        if self.low[place].value < self.high:
            self._offer(place, self.values[: len(core.cost)] > 0.5)
        if self.low[place].value < self.high and place + 1 < len(self.budgets):
            above = np.array(self.low[place + 1].store, np.int64)
            self._offer(place, np.isin(self.state.names, above))
        if self.low[place].value >= self.high:
            return not self.limits.expired
        search = HullSearch(replace(self.state, budget=budget), self.limits, self.group_names)
        search.take(Found(STOPPED, self.low[place].value, self.low[place].store))
        found = search.settle(self.high, relaxed)
        if not found.closed:
            return False
        self.high = found.value
        self._take(np.isin(self.state.names, np.array(found.chosen, np.int64)))
        return True

    def _relax(self, budget: int) -> Relaxed:
        """Lower the tableau's budget and the bound with it; the multipliers that show it."""
        core = self.state.core
        if self.tableau.counts[1] > MOST_NAMES:
            self._start(budget)
        while self.shut < len(core.cost) and core.cost[self.dearest[self.shut]] > budget:
            set_bounds(self.lp, self.dearest[self.shut], 0.0, 0.0)
            self.shut += 1
        move_budget(self.lp, float(budget - self.at))
        self.at = budget
        bound_by_hulls(self.lp, self.core, self.values, -UNBOUNDED, ROUNDS, LEAST)
        stage = self.stage
        mu = int(multipliers(self.lp, core.scale, stage.prices))
        stage.status[:], stage.left = FREE, budget
        bound, mu = stage.bound(mu, 0, 1, pace_of(mu))
        self.high = min(self.high, bound // core.scale // core.grain * core.grain)
        return Relaxed(mu, stage.prices.copy())

    def _offer(self, place: int, chosen: Flags) -> None:
        """Complete and polish a store within a budget."""
        improve(self.core, chosen, self.budgets[place], 1, *self.levels)
        self._take(chosen)

    def _take(self, chosen: Flags) -> None:
        """A store counts from its cost on."""
        value, cost = drop_waste(self.core, chosen, *self.levels)
        point = Point(int(value), tuple(self.state.names[chosen].tolist()))
        place = int(np.searchsorted(self.budgets, cost))
        while place < len(self.budgets) and self.low[place].value < value:
            self.low[place] = point
            place += 1

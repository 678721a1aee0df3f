"""The optimum of every budget at once, in two ways.

`component_frontier`: where a problem falls into small blocks, each block's graph gives its best
value by cost, and the blocks are merged over the budget.

`sweep`: where units have at most two levels (hull.py), one linear programme is kept while the
budget is lowered step by step: a few pivots each. Its duals bound the optimum in integers, its x
rounded gives stores, and a store counts from its cost on. Only budgets at which the two do not meet
are searched.
"""

from dataclasses import dataclass, replace

import numpy as np
from numba import njit

from memaudit.kernel.solvers.compiled.blocks import choose_layout
from memaudit.kernel.solvers.compiled.hull import (
    bound_by_hulls,
    move_budget,
    multipliers,
    new_tableau,
)
from memaudit.kernel.solvers.compiled.hull_solve import Found, HullSearch, Relaxed, pace_of
from memaudit.kernel.solvers.compiled.hull_tree import STOPPED
from memaudit.kernel.solvers.compiled.primal import drop_waste, improve
from memaudit.kernel.solvers.compiled.problem import OpenProblem
from memaudit.kernel.solvers.compiled.simplex import UNBOUNDED, set_bounds
from memaudit.kernel.solvers.compiled.stage import Stage, Trace
from memaudit.kernel.solvers.compiled.types import FREE, Core, Flags, Ints, Layout, copy_into, seal
from memaudit.kernel.solvers.protocol import Limits

MOST_CELLS = 1 << 26
"""A layer with more states times budgets than this is left to solving budget by budget."""


@njit(cache=True)
def _block_frontier(core: Core, layout: Layout, b: int, reach: int) -> Ints:
    """Per cost up to `reach`, the block's best value, or an empty array when too large."""
    none = np.empty(0, np.int64)
    width = reach + 1
    states = np.full((1, width), -1, np.int64)
    states[0, 0] = 0
    start = layout.block_node[b]
    for layer in range(layout.block_layer[b], layout.block_layer[b + 1]):
        first, last = layout.layer_edge[layer], layout.layer_edge[layer + 1]
        after = start + states.shape[0]
        end = after
        for edge in range(first, last):
            end = max(end, layout.edge_target[edge] + 1)
        # Asked before the array is made: a block that is too large leaves all to the other ways.
        if (end - after) * width > MOST_CELLS:
            return none
        following = np.full((end - after, width), -1, np.int64)
        for edge in range(first, last):
            source = layout.edge_source[edge] - start
            target = layout.edge_target[edge] - after
            gain = layout.edge_gain[edge]
            u = layout.option_candidate[layout.edge_option[edge]]
            cost = 0 if u < 0 else core.cost[u]
            for at in range(width - cost):
                if states[source, at] >= 0:
                    value = states[source, at] + gain
                    if value > following[target, at + cost]:
                        following[target, at + cost] = value
        states, start = following, after
    best = states[0]
    for at in range(1, width):
        # Up to here values were those of exact costs; budgets need not be used up.
        best[at] = max(best[at], best[at - 1])
    return best


@njit(cache=True)
def component_frontier(core: Core, layout: Layout, budget: int) -> Ints:
    """The best value for every cost 0..budget, or an empty array when a block is too large."""
    total = np.zeros(budget + 1, np.int64)
    merged = np.zeros(budget + 1, np.int64)
    for b in range(layout.block_layer.shape[0] - 1):
        reach = 0
        for layer in range(layout.block_layer[b], layout.block_layer[b + 1]):
            highest = 0
            for o in range(layout.layer_option[layer], layout.layer_option[layer + 1]):
                u = layout.option_candidate[o]
                if u >= 0:
                    highest = max(highest, core.cost[u])
            reach += highest
        block = _block_frontier(core, layout, b, min(reach, budget))
        if block.shape[0] == 0:
            return block
        copy_into(merged, total)
        for cost in range(1, block.shape[0]):
            gain = block[cost]
            # Only costs at which the block rises: there are few, and each costs a pass over all
            # budgets.
            if gain > block[cost - 1]:
                for at in range(budget - cost + 1):
                    value = total[at] + gain
                    if value > merged[at + cost]:
                        merged[at + cost] = value
        if block[0] > 0:
            for at in range(budget + 1):
                merged[at] = max(merged[at], total[at] + block[0])
        total, merged = merged, total
    return total


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
        # The dearest first: as the budget falls, candidates leave from this end and never come
        # back.
        self.dearest = np.argsort(-core.cost, kind="stable")
        self._start(budgets[-1])

    def _start(self, budget: int) -> None:
        """A fresh tableau."""
        self.tableau = new_tableau(self.state.core, budget, np.zeros(1, np.int64))
        self.lp, self.at, self.shut = seal(self.tableau), budget, 0
        self.values = np.zeros(self.tableau.columns)

    def run(self) -> list[Point]:
        points: list[Point] = []
        # From the largest budget down: the optimum never rises, so the last one bounds the next,
        # and a store found counts for all budgets from its cost on.
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
        # The store of the budget above, cut down to this one, is often the best one here.
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
        # Names of rows are never used again, so a tableau wears out.
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
        # The bound in integers, by the same code as in a tree; the floating-point value proves
        # nothing.
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
        # Values of rising budgets rise, so the first that is no worse ends the loop.
        while place < len(self.budgets) and self.low[place].value < value:
            self.low[place] = point
            place += 1

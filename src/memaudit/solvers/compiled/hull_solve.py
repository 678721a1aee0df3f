"""A large solve by the hulls of the units, which have at most two levels: from the bound down.

The relaxation at the root says that no store is worth more than some value. A search then assumes
a little less and looks for a store that is worth more than assumed: it finds one, or its tree is
the proof that there is none, and the value goes down a step. What is proven therefore does not
depend on how good the first store was.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from memaudit.solvers.compiled.hull import bound_by_hulls, fits, multipliers, new_tableau
from memaudit.solvers.compiled.hull_tree import CLOSED, NO_ROOM, grow, new_depths
from memaudit.solvers.compiled.layout import choose_layout
from memaudit.solvers.compiled.primal import improve
from memaudit.solvers.compiled.problem import LargeSolution, OpenProblem, prepare
from memaudit.solvers.compiled.simplex import UNBOUNDED
from memaudit.solvers.compiled.stage import FULL, LEAF, MU, ZERO, Stage, Trace
from memaudit.solvers.compiled.types import FREE, Flags, Floats, Ints, seal
from memaudit.solvers.packed import FINE, Packed
from memaudit.solvers.protocol import Limits

ROUNDS = 30
LEAST = 0.01
"""A round of cuts that lowers the bound by less does not count as progress."""

TURNS = 8
"""How often what is left after fixing is relaxed again."""

STUCK = 0.85
"""Branch when so large a share of the candidates is still open after fixing."""

CLOSE, FEW_STEPS = 12, 8
"""Steps of price ascent where a bound just misses; gaps of so many grains are closed one by one."""

FIRST_TAPE, LONGEST_TAPE = 1 << 18, 1 << 24
SHALLOW, REMEMBERED = 24, 1 << 23
"""Depths a search can remember at least, and prices of all depths together."""


UNLIMITED = 1 << 60
PATIENCE = 0.2
"""Seconds after which a search in another thread is looked at."""


@dataclass(frozen=True, slots=True)
class _Relaxed:
    """The multipliers of a relaxation."""

    mu: int
    prices: Ints


def solve_by_hulls(
    packed: Packed, limits: Limits, group_names: Ints, scale: int, slack: Ints,
    hint: tuple[int, ...] = (),
) -> LargeSolution | None:  # fmt: skip
    """Solve one packed problem, or None where it is not one for this way."""
    state = prepare(packed, FINE if packed.has_room else scale, slack)
    if not fits(state.core):
        return None
    return HullSearch(state, limits, group_names, hint).run()


class HullSearch:
    """A problem, the best store so far, and the nodes visited."""

    def __init__(
        self, state: OpenProblem, limits: Limits, group_names: Ints, hint: tuple[int, ...]
    ) -> None:
        self.state, self.limits, self.group_names = state, limits, group_names
        self.grain, self.scale, self.nodes = state.core.grain, state.core.scale, 0
        self.value, self.store, self.root_bound = -1, tuple[int, ...](), 0.0
        for start in dict.fromkeys((hint, ())):
            self._offer(state, np.isin(state.names, np.array(start, np.int64)), 0)

    def _offer(self, state: OpenProblem, chosen: Flags, passes: int) -> None:
        """Complete and polish a store of what is open; keep it if it is the best so far."""
        levels = np.zeros((2, len(state.core.top)), np.int64)
        value = state.value + int(improve(seal(state.core), chosen, state.budget, passes, *levels))
        if value > self.value:
            self.value, self.store = value, (*state.kept, *state.names[chosen].tolist())

    def run(self) -> LargeSolution:
        state, core = self.state, self.state.core
        reach = np.bincount(core.unit, core.level, len(core.top)).astype(np.int64)
        most = int(core.table[core.table_start[:-1] + np.minimum(reach, core.top)].sum())
        if most < self.value + self.grain:
            trace = Trace(self.group_names, [ZERO, LEAF])
            return self._solution(self.value, trace)
        relaxed = self._relax(state)
        stage = Stage(state, choose_layout(core, dense=True), relaxed.prices.copy(),
                      Trace(self.group_names))  # fmt: skip
        bound, mu = stage.bound(relaxed.mu, 0, 1, _pace(relaxed.mu))
        self.root_bound = bound / self.scale + state.value
        top = (bound // self.scale + state.value) // self.grain * self.grain
        return self._settle(top, _Relaxed(mu, stage.prices.copy()))

    def search_at_once(self) -> None:
        """Branch without fixing anything first, so that every kernel is called."""
        self._search(self.state, self._relax(self.state), -1, Trace(self.group_names))

    def _settle(self, top: int, relaxed: _Relaxed) -> LargeSolution:
        """From a value that no store exceeds down to the best store."""
        proof: Trace | None = None
        while top > self.value:
            gap = (top - self.value) // self.grain
            step = 1 if gap <= FEW_STEPS else (gap + 3) // 4
            assumed = top - step * self.grain
            found = self._attempt(assumed, relaxed)
            if found is not None:
                top, proof = assumed, found
            elif self.value <= assumed:
                return self._solution(top, None)
        if proof is None:
            proof = self._attempt(self.value, relaxed)
        return self._solution(self.value if proof else top, proof)

    def _relax(self, state: OpenProblem) -> _Relaxed:
        """Multipliers of the relaxation of what is open; its roundings are tried as stores."""
        tableau = new_tableau(state.core, state.budget)
        values = np.zeros(tableau.columns)
        prices = np.zeros(len(state.core.unit), np.int64)
        lp = seal(tableau)
        bound_by_hulls(lp, seal(state.core), values, -UNBOUNDED, ROUNDS, LEAST)
        mu = int(multipliers(lp, self.scale, prices))
        self._offer(state, values[: len(state.core.cost)] > 0.5, 2)
        return _Relaxed(mu, prices)

    def _attempt(self, assumed: int, relaxed: _Relaxed) -> Trace | None:
        """A proof that no store is worth more than assumed; None if one is, or at a limit."""
        trace, state = Trace(self.group_names), self.state
        for turn in range(TURNS):
            if turn:
                relaxed = self._relax(state)
            if self.value > assumed or self.limits.expired:
                return None
            core = state.core
            plan = choose_layout(core, dense=True)
            stage = Stage(state, plan, relaxed.prices.copy(), trace)
            target = (assumed - state.value + self.grain) * self.scale
            pace = _pace(relaxed.mu)
            bound, mu = stage.bound(relaxed.mu, target, 1, pace)
            if target <= bound < target + self.scale:
                bound, mu = stage.bound(mu, target, CLOSE, pace)
            empty = not len(stage.active)
            stage.write_multipliers(0 if empty else mu)
            if bound < target:
                trace.put(LEAF)
                return trace
            stage.fix(bound, target)
            if stage.broken:
                trace.put(FULL)
                return trace
            free = int((stage.status == FREE).sum())
            state, entries = state.shrink(stage.status)
            if state.value > self.value:
                self.value, self.store = state.value, state.kept
            if not len(state.core.cost):
                trace.put(MU, 0, LEAF)
                return None if self.value > assumed else trace
            relaxed = _Relaxed(mu, stage.prices[entries])
            if turn and free > STUCK * len(core.cost):
                break
        return self._search(state, relaxed, assumed, trace)

    def _search(
        self, state: OpenProblem, relaxed: _Relaxed, assumed: int, trace: Trace
    ) -> Trace | None:
        """Branch on what is left; None where it finds a better store or reaches a limit."""
        core, words = state.core, FIRST_TAPE
        plan = choose_layout(core, dense=True)
        stage = Stage(state, plan, relaxed.prices.copy(), trace)
        depths = new_depths(max(SHALLOW, min(256, REMEMBERED // max(1, len(core.unit)))),
                            len(core.unit))  # fmt: skip
        chosen = np.zeros(len(core.cost), np.bool_)
        while True:
            tape, counts = np.zeros(words, np.int64), np.zeros(2, np.int64)
            stage.prices[:] = relaxed.prices
            lp = seal(new_tableau(core, state.budget))
            most = (self.limits.nodes or UNLIMITED) - self.nodes
            stop = np.zeros(1, np.int64)
            goal = assumed - state.value
            end, used = _in_a_thread(
                self.limits, stop, *stage.sealed, lp, state.names, state.units, relaxed.mu,
                stage.prices, goal, goal + 1, state.budget, chosen, most, stop, tape, counts,
                depths,
            )  # fmt: skip
            self.nodes += int(counts[1])
            if counts[0] + state.value > max(assumed, self.value):
                self.value = int(counts[0]) + state.value
                self.store = (*state.kept, *state.names[chosen].tolist())
            if end != NO_ROOM or words >= LONGEST_TAPE:
                break
            words *= 8
        if end != CLOSED or self.value > assumed:
            return None
        trace.tape.extend(tape[:used].tolist())
        return trace

    def _solution(self, top: int, proof: Trace | None) -> LargeSolution:
        closed = proof is not None
        return LargeSolution(
            self.value, tuple(sorted(self.store)), closed, max(self.value, top), self.nodes,
            tuple(proof.tape) if proof else (), tuple(proof.layouts) if proof else (),
            self.root_bound, len(self.state.core.cost), self.scale,
        )  # fmt: skip


def _pace(mu: int) -> Floats:
    return np.array([0.0, max(1.0, mu / 64)])


def _in_a_thread(limits: Limits, stop: Ints, *arguments: Any) -> tuple[int, int]:
    """The compiled search in a thread of its own, so that a time limit or Ctrl-C can end it."""
    results: list[tuple[int, int]] = []
    thread = threading.Thread(target=lambda: results.append(grow(*arguments)), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(PATIENCE if limits.left is None else min(PATIENCE, limits.left + 0.01))
            stop[0] = limits.expired
    except KeyboardInterrupt:
        limits.interrupted = True
        stop[0] = 1
        thread.join()
    return results[0]

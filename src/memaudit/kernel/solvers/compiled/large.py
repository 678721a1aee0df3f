"""A large solve: bound, fix and shrink the root in turn, then branch on what is left.

Where units have at most two levels, the hulls of the units do it better (hull_solve.py).
"""

import math
from dataclasses import replace

import numpy as np

from memaudit.kernel.solvers.compiled.branch import search
from memaudit.kernel.solvers.compiled.hull import fits, has_hulls
from memaudit.kernel.solvers.compiled.hull_solve import solve_by_hulls
from memaudit.kernel.solvers.compiled.primal import improve
from memaudit.kernel.solvers.compiled.problem import LargeSolution, OpenProblem, prepare
from memaudit.kernel.solvers.compiled.stage import UNSET, Stage, Trace
from memaudit.kernel.solvers.compiled.types import FREE, Flags, Ints, seal
from memaudit.kernel.solvers.packed import FINE, SCALE, Packed
from memaudit.kernel.solvers.protocol import ACROSS, BROKEN, LEAF, MU, ZERO, Limits

ROUNDS = 60
LAYOUTS = 12
SHRINK_AT = 0.6
"""Lay the core out again when this share of it or less is still open."""

PATIENCE = (400, 4000, None)
"""Nodes of branching after which blocks are tightened further and branched on afresh."""

CORE_SIZE = 40
CLOSER_NODES = 150
"""How many candidates, and nodes, a search for better stores among the undecided may take."""

SMALL_CORE = 40
"""Cores this small are branched on at once."""

STALLED = 0.03
"""Branch when a call of ROUNDS closes less than this share of the gap."""

SWAP_LIMIT, MOST_SWAPS = 3000, 2_000_000
"""Stores of cores with more candidates are polished by swaps once; if that means more swaps, only
where units have hulls."""


def solve_large(
    packed: Packed, limits: Limits, group_names: Ints, slack: Ints, hint: tuple[int, ...] = ()
) -> LargeSolution:
    """Solve one packed problem by bounding, fixing and branching."""
    root = _Root(packed, limits, group_names, slack, hint)
    try:
        solution = root.solve()
        if not solution.closed and solution.value >= root.enough and not limits.expired:
            # The store that meets the bound came late. Known from the start, it is soon proven.
            root = _Root(packed, limits, group_names, slack, solution.chosen)
            solution = root.solve()
        return solution
    except KeyboardInterrupt:
        limits.interrupted = True
        return root.solution(closed=False)


class _Root:
    """The root node: its stage, the best store so far and the lowest bound."""

    def __init__(
        self,
        packed: Packed,
        limits: Limits,
        group_names: Ints,
        slack: Ints,
        hint: tuple[int, ...],
    ) -> None:
        self.limits, self.trace, self.nodes = limits, Trace(group_names), 0
        self.rounds, self.core_size = ROUNDS, CORE_SIZE
        self.has_hulls, scale = has_hulls(packed, slack), SCALE
        if self.has_hulls:
            scale = FINE if packed.has_room else SCALE
            self.trace.layouts.append(())  # hulls need no blocks
        # Measured on unions of two levels: a third fewer candidates or more, and 1.5 times as fast.
        # The checker reads the word at the root only, so branches leave out what their root does.
        across = self.has_hulls and packed.root_grain is None  # branches leave out what roots do
        if across:
            self.trace.put(ACROSS)
        state = self.state = prepare(packed, scale, slack, across)
        core = state.core
        # A first bound: all candidates for nothing.
        reach = np.bincount(core.unit, core.level, len(core.top)).astype(np.int64)
        last = core.table_start[:-1] + np.minimum(reach, core.top)
        self.lowest = float(core.table[last].sum())
        self.grain = core.grain
        self.value, self.store = -1, tuple[int, ...]()
        for start in dict.fromkeys((hint, ())):
            self._offer(np.isin(state.names, np.array(start, np.int64)))
        # Half the average density of the store: the last candidates that fit, which set the price
        # of the budget, are less dense than the average.
        self.mu = int(scale * self.value // max(1, state.budget) // 2)
        # A first aim below 0 says that the first bound shall set it (`ascend`).
        self.pace = np.array([-1.0, max(1.0, self.mu / 4)])

    def solve(self) -> LargeSolution:
        """Tighten stage after stage, then branch."""
        # Where everything that pays fits, the proof is one leaf: at prices 0 every block buys all
        # it wants, and that is no more than the store has.
        if self.lowest < self.value + self.grain:
            self.trace.put(ZERO, LEAF)
            return self.solution(closed=True)
        # The hulls first where their tableau fits; else price ascent fixes candidates until it
        # does.
        if self._by_hulls(self.state):
            return self.solution(closed=True)
        stage = Stage.first(self.state, self.mu, self.trace)
        for patience in PATIENCE:
            closed, stage = self._settle(stage)
            # The words so far end where this state begins, so its proof follows on them.
            closed = closed or self._by_hulls(stage.state)
            dense = stage.plan.layout.dense
            if not (closed or dense or self.limits.expired) and self._look_closer(stage):
                closed, stage = self._settle(stage)
            if closed or self.limits.expired or self.value >= self.enough:
                return self.solution(closed=closed)
            if self._branch(stage, None if dense else patience):
                return self.solution(closed=True)
            if self.limits.expired or dense or self._spent() or self.value >= self.enough:
                break
            # The tree grows too large: search for stores and tighten with more effort.
            # More ascent at the root lowers the bound of every node, which a tree of thousands
            # repays.
            self.rounds *= 4
            self.core_size *= 2
        return self.solution(closed=False)

    def _offer(self, chosen: Flags) -> None:
        """Complete a store of what is open; keep it if it is the best so far."""
        state = self.state
        levels = np.zeros((2, len(state.core.top)), np.int64)
        value = state.value + int(improve(seal(state.core), chosen, state.budget, 0, *levels))
        if value > self.value:
            self.value, self.store = value, (*state.kept, *state.names[chosen].tolist())

    def _by_hulls(self, state: OpenProblem) -> bool:
        """Solve what is open by the hulls of the units, where there are any; whether closed."""
        if not self.has_hulls or not fits(state.core) or self.limits.expired:
            return False
        found = solve_by_hulls(state, self.limits, self.trace.group_names, self.value, self.store)
        self.value, self.store = found.value, found.chosen
        self.nodes += found.nodes
        self.lowest = min(self.lowest, found.bound)
        # An open search leaves no words: what it proved holds for its own assumed value only.
        if found.closed:
            self.trace.put(*found.tape)
        return found.closed

    def _settle(self, stage: Stage) -> tuple[bool, Stage]:
        """Tighten and shrink until it is time to branch; whether the problem is closed."""
        # Each turn proves, fixes, and lays out what is left: fewer candidates make smaller graphs,
        # so units that were apart can share a block, and the bound falls again.
        for _ in range(LAYOUTS):
            outcome = self._tighten(stage)
            if outcome == "closed" or self.limits.expired:
                return outcome == "closed", stage
            stage = stage.next(self.mu)
            self.state = stage.state
            if outcome == "stuck":
                break
        if not len(stage.state.core.cost):
            self._decided()
            return True, stage
        return False, stage

    def _look_closer(self, stage: Stage) -> bool:
        """Search for a better store among the least decided candidates; true if one was found.

        The others are decided the way that costs the bound less. This proves nothing; it only
        finds stores, so its tree is not part of the proof.
        """
        stage.bound(self.mu, 0, 1, self.pace)
        near = stage.nearly_decided(self.core_size)
        if near is None:
            return False
        before = self.value
        # Limits are copied, so what the copy was told of an interrupt must come back.
        within = replace(self.limits, nodes=CLOSER_NODES, progress=None)
        result = search(near, self.mu, self.value, self.store, within, self.enough)
        self.value, self.store = result.value, result.store
        self.limits.interrupted |= within.interrupted
        return self.value > before

    @property
    def enough(self) -> int:
        """A store of this value is proven optimal by the bound: values come in steps of a grain."""
        return int(self.lowest) - self.grain + 1

    def _spent(self) -> bool:
        return self.limits.nodes is not None and self.nodes >= self.limits.nodes

    def _branch(self, stage: Stage, patience: int | None) -> bool:
        """Branch on what is left, unless it takes more nodes than `patience`; whether closed."""
        limits = self.limits
        within = limits if patience is None else limits.within(patience)
        start = (stage.status.copy(), stage.prices.copy(), stage.left)
        # The search shall not report a bound above what the root has proven already.
        above = math.ceil((self.lowest - stage.state.value) * stage.state.core.scale)
        result = search(stage, self.mu, self.value, self.store, within, self.enough, above)
        self.value, self.store = result.value, result.store
        limits.interrupted |= within.interrupted
        self.nodes += result.nodes
        if not result.closed:
            open_value = stage.state.value + result.bound // stage.state.core.scale
            self.lowest = min(self.lowest, open_value)
            # The tree's decisions are forgotten, but the words before it stand. Prices in the proof
            # may be any of the tree's, so all are written again (`known`).
            stage.status[:], stage.prices[:], stage.left = start
            stage.known[:] = UNSET
        return result.closed

    def _tighten(self, stage: Stage) -> str:
        """Lower the bound and fix candidates: until "closed", "shrink"-worthy or "stuck"."""
        core, offset = stage.state.core, stage.state.value
        if not len(core.cost):
            self._decided()
            return "closed"
        if self.nodes:
            # New blocks may need other prices: aim as far as the bound has slipped.
            bound, self.mu = stage.bound(self.mu, 0, 1, self.pace)
            slipped = bound - (self.lowest - offset) * core.scale
            self.pace[:] = max(self.pace[0], slipped), max(self.pace[1], self.mu / 64)
        previous = np.inf
        while True:
            # Whole grains: a bound below the next possible value is enough, in integers times
            # scale.
            target = (self.value - offset + core.grain) * core.scale
            bound, self.mu = stage.bound(self.mu, target, self.rounds, self.pace)
            self.nodes += 1
            self.lowest = min(self.lowest, offset + bound / core.scale)
            if bound >= target:
                value, store = stage.store(self._passes(len(core.cost)))
                if value > self.value:
                    self.value, self.store = value, store
                    target = (value - offset + core.grain) * core.scale
            # With nothing open, the bound at mu 0 is what is kept. That was offered as a store, so
            # it is below the target; mu times the budget left might not be.
            empty = not len(stage.active)
            stage.write_multipliers(0 if empty else self.mu)
            if bound < target or empty:
                self.trace.put(LEAF)
                return "closed"
            # Losses of this very bound, at these multipliers: the checker finds the same numbers.
            stage.fix(bound, target)
            if stage.broken:
                self.trace.put(BROKEN)
                return "closed"
            free = int((stage.status == FREE).sum())
            if free <= SHRINK_AT * len(core.cost):
                return "stuck" if free <= SMALL_CORE else "shrink"
            if previous - bound <= STALLED * (bound - target) or self.limits.expired:
                return "stuck"
            previous = bound

    def _passes(self, candidates: int) -> int:
        """How often a store is polished by swaps."""
        if candidates <= SWAP_LIMIT:
            return 3
        return int(self.has_hulls or len(self.store) * candidates <= MOST_SWAPS)

    def _decided(self) -> None:
        """Nothing is open: what is kept is the only store left."""
        if self.state.value > self.value:
            self.value, self.store = self.state.value, self.state.kept
        self.trace.put(MU, 0, LEAF)

    def solution(self, *, closed: bool) -> LargeSolution:
        bound = self.value if closed else max(self.value, int(self.lowest))
        return LargeSolution(
            self.value,
            tuple(sorted(self.store)),
            closed,
            bound,
            self.nodes,
            tuple(self.trace.tape),
            tuple(self.trace.layouts),
            self.lowest,
            len(self.state.core.cost),
            self.state.core.scale,
        )

"""A large solve by the hulls of the units, which have at most two levels: from the bound down.

The relaxation at the root says that no store is worth more than some value. A search then assumes
a little less and looks for a store that is worth more than assumed: it finds one, or its tree is
the proof that there is none, and the value goes down a step. What is proven therefore does not
depend on how good the first store was.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from memaudit.kernel.solvers.compiled.blocks import choose_layout
from memaudit.kernel.solvers.compiled.hull import (
    LEAST,
    ROUNDS,
    bound_by_hulls,
    multipliers,
    new_tableau,
)
from memaudit.kernel.solvers.compiled.hull_tree import (
    CLOSED,
    FOUND,
    STOPPED,
    grow,
    new_search,
    waiting,
)
from memaudit.kernel.solvers.compiled.primal import improve
from memaudit.kernel.solvers.compiled.problem import LargeSolution, OpenProblem
from memaudit.kernel.solvers.compiled.simplex import UNBOUNDED
from memaudit.kernel.solvers.compiled.stage import Stage, Trace
from memaudit.kernel.solvers.compiled.types import KEPT, Flags, Floats, Ints, seal
from memaudit.kernel.solvers.protocol import BROKEN, LAYOUT, LEAF, MU, ZERO, Limits

CLOSE, FEW_STEPS = 4, 8
"""Steps of price ascent where a bound just misses; gaps of so many grains are closed one by one."""

NODES, FEWER, TOGETHER = 256, 64, 8
"""Nodes after which a search is split into its open parts, fewer while a round has few parts."""

WORDS = 1 << 18
"""Of proof, after which it is split as well."""

DEEPEST, REMEMBERED = 256, 1 << 23
"""Depths of a search, and prices of all depths together."""

QUICK = 4000
"""Cells of a problem whose first part does not need a thread of its own."""

LONGEST_PROOF = 1 << 24
PATIENCE = 0.2
"""Seconds after which searches in other threads are looked at."""


@dataclass(frozen=True, slots=True)
class Relaxed:
    """The multipliers of a relaxation."""

    mu: int
    prices: Ints


@dataclass(slots=True)
class _Part:
    """A part of a proof: what is open there, its words, and the parts that follow them."""

    state: OpenProblem
    relaxed: Relaxed | None = None
    words: list[int] = field(default_factory=list)
    parts: "list[_Part]" = field(default_factory=list)
    closed: bool = False

    def flatten(self) -> list[int]:
        """All words in order."""
        words: list[int] = []
        rest = [self]
        while rest:
            part = rest.pop()
            words += part.words
            rest += reversed(part.parts)
        return words


@dataclass(frozen=True, slots=True)
class Found:
    """How the search of a part ended, its best store, and the nodes it took."""

    end: int
    value: int = -1
    store: tuple[int, ...] = ()
    nodes: int = 0

    def against(self, assumed: int) -> "Found":
        """The end of a part that is closed unless its store is worth more than assumed."""
        return replace(self, end=FOUND if self.value > assumed else CLOSED)


def solve_by_hulls(
    state: OpenProblem, limits: Limits, group_names: Ints, value: int, store: tuple[int, ...]
) -> LargeSolution:
    """The best store of what is open in a problem, if it is better than one that is known.

    The proof is that of this part alone.
    """
    with ThreadPoolExecutor(limits.threads) as pool:
        search = HullSearch(state, limits, group_names, pool)
        search.take(Found(STOPPED, value, store))
        return search.run()


class HullSearch:
    """A problem, the best store so far, and the nodes visited.

    Parts of a tree are searched in the threads of a pool. Without one they are searched one by one,
    and there is no proof.
    """

    def __init__(
        self,
        state: OpenProblem,
        limits: Limits,
        group_names: Ints,
        pool: ThreadPoolExecutor | None = None,
    ) -> None:
        self.state, self.limits, self.group_names, self.pool = state, limits, group_names, pool
        self.grain, self.scale, self.nodes = state.core.grain, state.core.scale, 0
        self.value, self.store = -1, tuple[int, ...]()
        self.top: int | None = None

    def take(self, found: Found) -> None:
        self.nodes += found.nodes
        if found.value > self.value:
            self.value, self.store = found.value, found.store

    def run(self) -> LargeSolution:
        state, core = self.state, self.state.core
        # All candidates for nothing: if that is no more than the store known, one leaf proves it.
        reach = np.bincount(core.unit, core.level, len(core.top)).astype(np.int64)
        most = int(core.table[core.table_start[:-1] + np.minimum(reach, core.top)].sum())
        if most + state.value < self.value + self.grain:
            return self._solution(self.value, [LAYOUT, 0, MU, 0, ZERO, LEAF])
        relaxed, found = self._first_relaxation()
        self.take(found)
        stage = Stage(
            state, choose_layout(core, dense=True), relaxed.prices.copy(), Trace(self.group_names)
        )
        bound, mu = stage.bound(relaxed.mu, 0, 1, pace_of(relaxed.mu))
        # Values come in grains from 0 on, kept ones included, so the bound is rounded down to one.
        top = (bound // self.scale + state.value) // self.grain * self.grain
        return self.settle(top, Relaxed(mu, stage.prices.copy()))

    def _first_relaxation(self) -> tuple[Relaxed, Found]:
        stop = np.zeros(1, np.int64)
        if self.pool is None or len(self.state.core.unit) <= QUICK:
            return _relax(self.state, stop)
        running = self.pool.submit(_relax, self.state, stop)
        self._watch([running], stop)
        return running.result()

    def settle(self, top: int, relaxed: Relaxed) -> LargeSolution:
        """From a value that no store exceeds down to the best store."""
        proof: list[int] | None = None
        while top > self.value:
            # Small gaps close one grain at a time: an attempt that fails has cost little, and the
            # last one is the proof. Large ones go by quarters, since each attempt is a search of
            # its own.
            gap = (top - self.value) // self.grain
            step = 1 if gap <= FEW_STEPS else (gap + 3) // 4
            assumed = top - step * self.grain
            self.top = top
            # A proof of `assumed` lowers the top to it, a better store raises the value: either way
            # the gap shrinks, and where neither happened a limit was reached.
            found = self._attempt(assumed, relaxed)
            if found is not None:
                top, proof = assumed, found
            elif self.value <= assumed:
                return self._solution(top, None)
        # The value met the top without a proof for it: the last one was for a higher value, or none
        # was needed. One more tree, at the value itself, cannot find a better store.
        if proof is None:
            proof = [] if self.pool is None else self._attempt(self.value, relaxed)
        return self._solution(top if proof is None else self.value, proof)

    def _attempt(self, assumed: int, relaxed: Relaxed) -> list[int] | None:
        """A proof that no store is worth more than assumed; None if one is, or at a limit.

        Parts are searched in rounds: the same ones, whatever the number of threads.
        """
        whole = _Part(self.state, relaxed)
        rest, words = [whole], 0
        while rest:
            if words > LONGEST_PROOF or self.limits.out(self.nodes):
                return None
            parts = [rest.pop() for _ in range(min(TOGETHER, len(rest)))]
            # Few parts mean idle threads, so they are split sooner. The choice depends on numbers
            # of parts only, which are the same with one thread as with eight.
            nodes, stop = FEWER if len(parts) < TOGETHER else NODES, np.zeros(1, np.int64)
            search = partial(_explore, assumed, self.group_names, nodes, stop)
            quick = parts[0] is whole and len(self.state.core.unit) <= QUICK
            alone = self.pool is None or quick
            found = map(search, parts) if alone else self._together(search, parts, stop)
            # In the order of the proof: what counts is decided by the first part that finds a
            # store, not by the first thread that ends.
            for part, one in zip(parts, found, strict=False):
                self.take(one)
                words += len(part.words)
                if one.end == FOUND:
                    return None
                if self.pool is None:  # nobody wants a proof
                    part.words.clear()
                    words = 0
            # A stack: what follows the first part is searched before the others' parts, so few
            # wait.
            for part in reversed(parts):
                rest += (after for after in reversed(part.parts) if not after.closed)
        return whole.flatten()

    def _together(
        self, search: Callable[[_Part], Found], parts: list[_Part], stop: Ints
    ) -> list[Found]:
        """Search parts at the same time; a store that is worth more than assumed ends later ones.

        The search runs in other threads, so that a time limit or Ctrl-C can end it.
        """
        assert self.pool is not None
        found: list[Found] = []
        running = [self.pool.submit(search, part) for part in parts]
        # Later parts may run on while an earlier one ends the round; their results are not looked
        # at, or the outcome would depend on speed.
        while len(found) < len(running) and not (found and found[-1].end == FOUND):
            self._watch(running[: len(found) + 1], stop)
            found.append(running[len(found)].result())
        stop[0] = 1
        wait(running)
        return found

    def _watch(self, running: Sequence[Future[Any]], stop: Ints) -> None:
        """Wait for work in other threads; at a limit, or at Ctrl-C, tell it to stop."""
        while not all(work.done() for work in running):
            try:
                left = self.limits.left
                wait(running, PATIENCE if left is None else min(PATIENCE, left + 0.01))
                stop[0] = self.limits.expired
            # Kernels cannot be interrupted; the flag they look at every few pivots ends them.
            except KeyboardInterrupt:
                self.limits.interrupted = True
                stop[0] = 1
            self.limits.tell(self.value, self.top, self.nodes)

    def _solution(self, top: int, proof: list[int] | None) -> LargeSolution:
        return LargeSolution(
            self.value,
            tuple(sorted(self.store)),
            proof is not None,
            max(self.value, top),
            self.nodes,
            tuple(proof or ()),
            ((),),
            float(top),
            len(self.state.core.cost),
            self.scale,
        )


def _polished(state: OpenProblem, chosen: Flags, passes: int) -> Found:
    """A store of what is open, completed and polished."""
    levels = np.zeros((2, len(state.core.top)), np.int64)
    value = state.value + int(improve(seal(state.core), chosen, state.budget, passes, *levels))
    return Found(STOPPED, value, (*state.kept, *state.names[chosen].tolist()))


def _relax(state: OpenProblem, stop: Ints) -> tuple[Relaxed, Found]:
    """Multipliers of the relaxation of what is open, and its x rounded to a store."""
    tableau = new_tableau(state.core, state.budget, stop)
    values = np.zeros(tableau.columns)
    prices = np.zeros(len(state.core.unit), np.int64)
    lp = seal(tableau)
    bound_by_hulls(lp, seal(state.core), values, -UNBOUNDED, ROUNDS, LEAST)
    mu = int(multipliers(lp, state.core.scale, prices))
    return Relaxed(mu, prices), _polished(state, values[: len(state.core.cost)] > 0.5, 2)


def _explore(assumed: int, group_names: Ints, nodes: int, stop: Ints, part: _Part) -> Found:
    """Prove that no store of a part is worth more than assumed, or find one.

    Where that takes more nodes, the part is split, and what is proven so far are its words.
    """
    trace, state, relaxed = Trace(group_names, part.words), part.state, part.relaxed
    best = Found(CLOSED, state.value, state.kept)
    # Nothing is open: the only store left is what is kept, and at mu 0 its value is the bound.
    if not len(state.core.cost):
        trace.put(MU, 0, LEAF)
        return best.against(assumed)
    if relaxed is None:
        if stop[0]:
            part.parts.append(_Part(state))
            return replace(best, end=STOPPED)
        relaxed, rounded = _relax(state, stop)
        best = max(best, rounded, key=attrgetter("value"))
    if best.value > assumed:
        return best.against(assumed)
    core = state.core
    stage = Stage(state, choose_layout(core, dense=True), relaxed.prices.copy(), trace)
    target, pace = (assumed - state.value + core.grain) * core.scale, pace_of(relaxed.mu)
    bound, mu = stage.bound(relaxed.mu, target, 1, pace)
    # Missed by less than a unit of value: a few steps of ascent cost less than a branch.
    if target <= bound < target + core.scale:
        bound, mu = stage.bound(mu, target, CLOSE, pace)
    stage.write_multipliers(mu if len(stage.active) else 0)
    if bound < target:
        trace.put(LEAF)
        return best.against(assumed)
    # Fixing before the tableau is built: its size is rows times columns.
    stage.fix(bound, target)
    if stage.broken:
        trace.put(BROKEN)
        return best.against(assumed)
    state, entries = state.shrink(stage.status)
    found = _branch(part, state, Relaxed(mu, stage.prices[entries]), trace, assumed, nodes, stop)
    if best.value > found.value:
        found = replace(found, value=best.value, store=best.store)
    return found


def search_at_once(state: OpenProblem) -> None:
    """Branch without fixing anything first, so that every kernel is called."""
    trace, stop = Trace(np.zeros(len(state.names), np.int64)), np.zeros(1, np.int64)
    _branch(_Part(state), state, _relax(state, stop)[0], trace, -1, NODES, stop)


def _branch(
    part: _Part,
    state: OpenProblem,
    relaxed: Relaxed,
    trace: Trace,
    assumed: int,
    nodes: int,
    stop: Ints,
) -> Found:
    """Branch on what is left of a part."""
    if not len(state.core.cost):
        trace.put(MU, 0, LEAF)
        return Found(CLOSED, state.value, state.kept).against(assumed)
    core, entries = state.core, len(state.core.unit)
    stage = Stage(state, choose_layout(core, dense=True), relaxed.prices.copy(), trace)
    # Prices of every depth are remembered, so deep searches of wide problems are cut; what is left
    # open there becomes parts.
    depth = max(8, min(DEEPEST, REMEMBERED // max(1, entries)))
    # At least one node must fit, whatever its size, or a search would stop where it began.
    words = max(WORDS, 16 * (entries + len(core.cost) + 16))
    search = new_search(len(core.cost), entries, depth, words)
    lp = seal(new_tableau(core, state.budget, stop))
    end = grow(
        *stage.sealed,
        lp,
        state.names,
        state.units,
        relaxed.mu,
        stage.prices,
        assumed - state.value,
        state.budget,
        nodes,
        stop,
        search,
    )
    value, visited, used = search.counts[:3].tolist()
    store = (*state.kept, *state.names[search.chosen].tolist())
    trace.tape.extend(search.tape[:used].tolist())
    if end == STOPPED:
        # The present node first: its words follow on what the search has written.
        for status, left in waiting(search):
            kept = np.bincount(core.group[status == KEPT], minlength=len(core.room))
            if left < 0 or (kept > core.room).any():
                part.parts.append(_Part(state, words=[BROKEN], closed=True))
            else:
                part.parts.append(_Part(state.shrink(status)[0]))
    return Found(end, state.value + value, store, visited)


def pace_of(mu: int) -> Floats:
    return np.array([0.0, max(1.0, mu / 64)])

"""Depth-first branch and bound over a stage's candidates, writing its own tree as it goes."""

from dataclasses import dataclass

import numpy as np

from memaudit.solvers.compiled.stage import Stage
from memaudit.solvers.compiled.trace import BRANCH, FULL, LEAF
from memaudit.solvers.compiled.types import BANNED, KEPT, Ints
from memaudit.solvers.protocol import Limits

ROUNDS = 16
STORES_AT_FIRST = 100
STORES_LATER = 16
"""Every node looks for a store at first, later every so many."""


@dataclass(slots=True)
class Pending:
    """The second child of a branch: its candidate banned, everything else as it was."""

    candidate: int
    status: Ints
    prices: Ints
    known: Ints
    left: int
    mu: int
    bound: int


@dataclass(slots=True)
class Outcome:
    """The best store known, whether it is proven, and a bound (times scale) where it is not."""

    value: int
    store: tuple[int, ...]
    closed: bool
    nodes: int
    bound: int = 0


def search(stage: Stage, mu: int, value: int, store: tuple[int, ...], limits: Limits) -> Outcome:
    """Solve what is open in a stage, starting from the best store known so far."""
    best = Outcome(value, store, False, 0)
    core = stage.state.core
    waiting: list[Pending] = []
    above = 1 << 60
    while True:
        best.nodes += 1
        bound, mu, pruned = _visit(stage, mu, best)
        if pruned and not waiting:
            best.closed = True
            return best
        if pruned:
            pending = waiting.pop()
            stage.status[:], stage.prices[:] = pending.status, pending.prices
            stage.known[:] = pending.known
            stage.left, mu, above = pending.left, pending.mu, pending.bound
            stage.status[pending.candidate] = BANNED
            continue
        above = min(bound, above)
        if limits.expired or (limits.nodes is not None and best.nodes >= limits.nodes):
            best.bound = max([above, *(pending.bound for pending in waiting)])
            return best
        u = stage.branching()
        stage.trace.put(BRANCH, int(stage.state.names[u]))
        kept = (stage.status.copy(), stage.prices.copy(), stage.known.copy())
        waiting.append(Pending(u, *kept, stage.left, mu, above))
        stage.status[u] = KEPT
        stage.left -= int(core.cost[u])


def _visit(stage: Stage, mu: int, best: Outcome) -> tuple[int, int, bool]:
    """Bound a node and fix what follows; returns the bound, its mu and whether it is pruned."""
    core, offset = stage.state.core, stage.state.value
    pace = np.zeros(2)
    while True:
        if stage.broken:
            stage.trace.put(FULL)
            return 0, mu, True
        target = (best.value - offset + core.grain) * core.scale
        pace[1] = max(1.0, mu / 64)
        bound, mu = stage.bound(mu, target, ROUNDS, pace)
        empty = not len(stage.active)
        if offset + stage.value > best.value:
            best.value, best.store = offset + stage.value, stage.kept_store()
        if bound >= target and not empty and _time_for_a_store(best.nodes):
            value, store = stage.store(passes=1)
            if value > best.value:
                best.value, best.store = value, store
        target = (best.value - offset + core.grain) * core.scale
        mu = 0 if empty else mu
        stage.write_multipliers(mu)
        if bound < target or empty:
            stage.trace.put(LEAF)
            return bound, mu, True
        active = len(stage.active)
        fixed = stage.fix(bound, target)
        kept = stage.status[fixed] == KEPT
        if not kept.any() and len(fixed) * 4 <= active:
            return bound, mu, False


def _time_for_a_store(nodes: int) -> bool:
    return nodes < STORES_AT_FIRST or nodes % STORES_LATER == 0

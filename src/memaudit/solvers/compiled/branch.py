"""Depth-first branch and bound over a stage's candidates, writing its own tree as it goes."""

from dataclasses import dataclass, field

import numpy as np

from memaudit.solvers.compiled.stage import BRANCH, FULL, LEAF, Stage
from memaudit.solvers.compiled.types import BANNED, KEPT, Ints
from memaudit.solvers.protocol import Limits

ROUNDS = 16
STORES_AT_FIRST = 100
STORES_LATER = 16
JUMP = 10
"""Every node looks for a store at first, later every so many."""


@dataclass(slots=True)
class ProofNode:
    """A visited node's words of proof; where they end in a branch, its two children."""

    words: list[int] = field(default_factory=list)
    kept: "ProofNode | None" = None
    banned: "ProofNode | None" = None

    def flatten(self) -> list[int]:
        """The words of the whole tree in preorder."""
        words: list[int] = []
        waiting = [self]
        while waiting:
            node = waiting.pop()
            words += node.words
            waiting += [child for child in (node.banned, node.kept) if child is not None]
        return words


@dataclass(slots=True)
class PendingChild:
    """A child to be visited: a candidate kept or banned, everything else as at its parent."""

    node: ProofNode
    candidate: int
    decision: int
    status: Ints
    prices: Ints
    known: Ints
    left: int
    mu: int
    bound: int

    def enter(self, stage: Stage) -> None:
        """Put the stage into this child's state."""
        stage.status[:], stage.prices[:], stage.known[:] = self.status, self.prices, self.known
        stage.status[self.candidate] = self.decision
        stage.left = self.left
        if self.decision == KEPT:
            stage.left -= int(stage.state.core.cost[self.candidate])
        stage.trace.tape = self.node.words


@dataclass(slots=True)
class SearchResult:
    """The best store known, whether it is proven, and a bound (times scale) where it is not."""

    value: int
    store: tuple[int, ...]
    closed: bool
    nodes: int
    bound: int = 0


def search(
    stage: Stage, mu: int, value: int, store: tuple[int, ...], limits: Limits, enough: int
) -> SearchResult:
    """Solve what is open in a stage, starting from the best store known so far.

    A store worth `enough` ends it at once: nothing is worth more, and a proof that begins with that
    store is shorter than this one.

    Depth first, but with blocks every so often the child with the highest bound is taken up, so
    that a poor first store does not keep the search in a corner. (Without blocks the prices
    differ too much from one part of the tree to another for that to pay.)
    """
    best = SearchResult(value, store, False, 0)
    proof, tree = stage.trace.tape, ProofNode()
    stage.trace.tape = tree.words
    waiting: list[PendingChild] = []
    node, above = tree, 1 << 60
    while True:
        best.nodes += 1
        bound, mu, pruned = _visit(stage, mu, best)
        above = min(bound, above)
        stop = limits.expired or best.nodes >= (limits.nodes or 1 << 60)
        if best.value >= enough > value or (stop and not pruned):
            best.bound = max([above, *(pending.bound for pending in waiting)])
            break
        if not pruned:
            u = stage.branching()
            stage.trace.put(BRANCH, int(stage.state.names[u]))
            node.kept, node.banned = ProofNode(), ProofNode()
            now = (stage.status.copy(), stage.prices.copy(), stage.known.copy(), stage.left, mu)
            waiting.append(PendingChild(node.banned, u, BANNED, *now, above))
            waiting.append(PendingChild(node.kept, u, KEPT, *now, above))
        if not waiting:
            best.closed = True
            proof += tree.flatten()
            break
        jump = best.nodes % JUMP == 0 and not stage.plan.layout.dense
        pending = waiting.pop(_highest(waiting) if jump else -1)
        pending.enter(stage)
        node, mu, above = pending.node, pending.mu, pending.bound
    stage.trace.tape = proof
    return best


def _highest(waiting: list[PendingChild]) -> int:
    """The waiting child with the highest bound, of equal ones the latest."""
    return max(range(len(waiting)), key=lambda i: (waiting[i].bound, i))


def _visit(stage: Stage, mu: int, best: SearchResult) -> tuple[int, int, bool]:
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

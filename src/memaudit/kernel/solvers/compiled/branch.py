"""Depth-first branch and bound over a stage's candidates, writing its own tree as it goes.

Nodes are visited in rounds: the same nodes, whatever the number of threads, and each knows the best
store of the rounds before. So the tree does not depend on the threads, only the time does.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue

import numpy as np

from memaudit.kernel.solvers.compiled.stage import Stage
from memaudit.kernel.solvers.compiled.types import BANNED, KEPT, Ints
from memaudit.kernel.solvers.protocol import BRANCH, BROKEN, LEAF, Limits

ROUNDS, DENSE_ROUNDS = 16, 30
"""Steps of ascent at a node; without blocks, branching needs a fair average of the picks."""

ALONE, TOGETHER = 24, 16
"""The first nodes are visited one by one, later so many in a round."""

STORES_AT_FIRST = 100
STORES_LATER = 16
"""Every node looks for a store at first, later every so many."""

FIRST_SHAKE = 64
"""Nodes after which the best store is shaken, then whenever they have doubled."""

JUMP, DENSE_JUMP, MOST_WAITING = 10, 16, 1000
"""Every so many nodes that with the highest bound is taken up, unless too many wait already."""

ABOVE_ALL = 1 << 60


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
class _Pending:
    """A node to be visited: a candidate kept or banned, everything else as at its parent."""

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
        """Put the stage into this node's state."""
        stage.status[:], stage.prices[:], stage.known[:] = self.status, self.prices, self.known
        stage.left = self.left
        if self.candidate >= 0:
            stage.status[self.candidate] = self.decision
        if self.decision == KEPT:
            stage.left -= int(stage.state.core.cost[self.candidate])
        stage.trace.tape = self.node.words


@dataclass(slots=True)
class _Visit:
    """What a node gave: the best store known there, and its children unless it is pruned."""

    value: int
    store: tuple[int, ...]
    children: tuple[_Pending, ...] = ()


@dataclass(slots=True)
class SearchResult:
    """The best store known, whether it is proven, and a bound (times scale) where it is not."""

    value: int
    store: tuple[int, ...]
    closed: bool
    nodes: int
    bound: int = 0


def search(
    stage: Stage,
    mu: int,
    value: int,
    store: tuple[int, ...],
    limits: Limits,
    enough: int,
    above: int = ABOVE_ALL,
) -> SearchResult:
    """Solve what is open in a stage, starting from the best store known so far.

    A store worth `enough` ends it at once: nothing is worth more, and a proof that begins with that
    store is shorter than this one. `above` is a bound that is known, times scale.

    Depth first, but every so often the child with the highest bound is taken up, so that a poor
    first store does not keep the search in a corner, and the bound of all falls.
    """
    best, tree = SearchResult(value, store, False, 0), ProofNode()
    state = (stage.status.copy(), stage.prices.copy(), stage.known.copy(), stage.left, mu)
    waiting = [_Pending(tree, -1, 0, *state, above)]
    proof, most, next_shake = stage.trace.tape, limits.nodes or ABOVE_ALL, FIRST_SHAKE
    jumps = DENSE_JUMP if stage.plan.layout.dense else JUMP
    with _Crew(stage, limits.threads) as crew:
        while waiting:
            # `enough > value`: a search that begins with such a store has to prove it.
            if best.value >= enough > value or best.nodes >= most or limits.expired:
                best.bound = max(pending.bound for pending in waiting)
                break
            # The first nodes one by one: each may find a store that closes the next.
            size = TOGETHER if best.nodes >= ALONE else 1
            round_: list[_Pending] = []
            while waiting and len(round_) < size:
                number = best.nodes + len(round_)
                # The number of the node decides, not the clock, so the tree is the same with any
                # threads.
                jump = number % jumps == jumps - 1 and len(waiting) < MOST_WAITING
                # Depth first from the end: few nodes wait, and their arrays are what memory is
                # spent on.
                round_.append(waiting.pop(_highest(waiting) if jump else -1))
            try:
                visits = crew.visit(round_, best)
            except KeyboardInterrupt:
                limits.interrupted = True
                # Those of the round are open again, so that the bound of all counts them; there is
                # no proof then.
                waiting += round_
                continue
            for visit in visits:
                if visit.value > best.value:
                    best.value, best.store = visit.value, visit.store
            # So that the first node's children are taken up first, as without rounds.
            for visit in reversed(visits):
                waiting += visit.children
            best.nodes += len(round_)
            # Doubling keeps the share of time that shaking takes constant while a tree grows.
            if best.nodes >= next_shake:
                found, kept = stage.shaken(best.store, next_shake)
                if found > best.value:
                    best.value, best.store = found, kept
                next_shake *= 2
            open_ = max((pending.bound for pending in waiting), default=0)
            bound = stage.state.value + open_ // stage.state.core.scale
            limits.tell(best.value, max(best.value, bound), best.nodes)
    best.closed = not waiting
    stage.trace.tape = proof
    if best.closed:
        proof += tree.flatten()
    return best


class _Crew:
    """Visits the nodes of a round: on the stage itself, or each on a free copy of it."""

    def __init__(self, stage: Stage, threads: int) -> None:
        self.stage, self.threads = stage, threads
        self.pool: ThreadPoolExecutor | None = None
        self.free: SimpleQueue[Stage] = SimpleQueue()

    def __enter__(self) -> "_Crew":
        return self

    def __exit__(self, *_: object) -> None:
        if self.pool is not None:
            self.pool.shutdown()

    def visit(self, nodes: list[_Pending], best: SearchResult) -> list[_Visit]:
        numbers = range(best.nodes, best.nodes + len(nodes))
        # All of a round see the store as it was before the round, in threads or not: otherwise the
        # order in which threads end would show in the tree.
        if self.threads == 1 or len(nodes) == 1:
            return [_visit(self.stage, *job, best) for job in zip(nodes, numbers, strict=True)]
        if self.pool is None:
            self.pool = ThreadPoolExecutor(self.threads)
            for _ in range(self.threads):
                self.free.put(self.stage.twin())
        return list(self.pool.map(partial(self._visit_free, best), nodes, numbers))

    def _visit_free(self, best: SearchResult, node: _Pending, number: int) -> _Visit:
        stage = self.free.get()
        try:
            return _visit(stage, node, number, best)
        finally:
            self.free.put(stage)


def _highest(waiting: list[_Pending]) -> int:
    """The waiting child with the highest bound, of equal ones the latest."""
    return max(range(len(waiting)), key=lambda i: (waiting[i].bound, i))


def _visit(stage: Stage, pending: _Pending, number: int, best: SearchResult) -> _Visit:
    """Bound a node, fix what follows, and branch unless it is pruned."""
    pending.enter(stage)
    core, offset, mu = stage.state.core, stage.state.value, pending.mu
    visit, pace = _Visit(best.value, best.store), np.zeros(2)
    rounds = DENSE_ROUNDS if stage.many_levels else ROUNDS
    while True:
        if stage.broken:
            stage.trace.put(BROKEN)
            return visit
        # In integers: below the next possible value above the best store.
        target = (visit.value - offset + core.grain) * core.scale
        pace[1] = max(1.0, mu / 64)
        # Ends as soon as it is below the target; until then losses are computed for `fix`.
        bound, mu = stage.bound(mu, target, rounds, pace)
        empty = not len(stage.active)
        # What is kept is a store by itself: nothing else would ever offer it where nothing fits.
        if offset + stage.value > visit.value:
            visit.value, visit.store = offset + stage.value, stage.kept_store()
        if bound >= target and not empty and _time_for_a_store(number):
            value, store = stage.store(passes=1)
            if value > visit.value:
                visit.value, visit.store = value, store
        # Again, because the node's own store may have raised it; the proof is checked against the
        # last best store, so a target only ever rises.
        target = (visit.value - offset + core.grain) * core.scale
        mu = 0 if empty else mu
        stage.write_multipliers(mu)
        if bound < target or empty:
            stage.trace.put(LEAF)
            return visit
        active = len(stage.active)
        fixed = stage.fix(bound, target)
        kept = stage.status[fixed] == KEPT
        # Keeping changes levels and budget, and many bans the prices, so the node is bounded again;
        # for a few bans another round of ascent costs more than it brings.
        if not kept.any() and len(fixed) * 4 <= active:
            break
    u, node = stage.branching(), pending.node
    stage.trace.put(BRANCH, int(stage.state.names[u]))
    node.kept, node.banned = ProofNode(), ProofNode()
    state = (stage.status.copy(), stage.prices.copy(), stage.known.copy(), stage.left, mu)
    # Bounds of children are reported, not proven: a parent's holds below it as well.
    bound = min(bound, pending.bound)
    # The kept side last, so that it is visited first: preorder has it first, too.
    visit.children = (
        _Pending(node.banned, u, BANNED, *state, bound),
        _Pending(node.kept, u, KEPT, *state, bound),
    )
    return visit


def _time_for_a_store(number: int) -> bool:
    return number < STORES_AT_FIRST or number % STORES_LATER == 0

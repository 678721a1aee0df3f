"""The root of a large solve: bound, fix, shrink, and again; then branch on what is left."""

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memaudit.solvers.compiled.ascend import ascend
from memaudit.solvers.compiled.bound import enter, evaluate, losses, workspace
from memaudit.solvers.compiled.layout import Plan, choose_layout
from memaudit.solvers.compiled.primal import fill, improve
from memaudit.solvers.compiled.reduce import compress, grain, useful
from memaudit.solvers.compiled.search import (
    BLOCKS,
    FULL,
    LEAF,
    MU,
    UNSET,
    ZERO,
    overfull,
    put_fixes,
    put_prices,
    search,
)  # fmt: skip
from memaudit.solvers.compiled.types import FREE, KEPT, Core, Floats, Ints, Work, seal
from memaudit.solvers.packed import Packed
from memaudit.solvers.protocol import Limits

Block = tuple[tuple[int, ...], tuple[int, ...]]

ROUNDS = 60
NODE_ROUNDS = 16
LAYOUTS = 12
SHRINK_AT = 0.6
"""Lay the core out again when this share of it or less is still open."""

SMALL_CORE = 40
STALLED = 0.03
SWAP_LIMIT = 3000
"""Cores with more candidates than this are not polished by swaps: too many pairs to try."""


@dataclass(slots=True)
class Open:
    """What is left to decide, and how its numbers map back to the whole problem."""

    core: Core
    names: Ints
    units: Ints
    kept: list[int]
    value: int
    budget: int

    def shrink(self, status: Ints) -> tuple["Open", Ints]:
        """Take the kept candidates as given and drop the banned ones; also the entries left."""
        core = self.core
        base = np.zeros(core.top.shape[0], np.int64)
        kept = np.nonzero(status == KEPT)[0]
        for u in kept:
            row = slice(core.row_start[u], core.row_start[u + 1])
            base[core.unit[row]] += core.level[row]
        base = np.minimum(base, core.top)
        room = core.room - np.bincount(core.group[kept], minlength=len(core.room))
        left = self.budget - int(core.cost[kept].sum())
        gains = base[core.unit] < core.top[core.unit]
        useful_rows = np.zeros(core.cost.shape[0], np.bool_)
        owner = np.repeat(np.arange(core.cost.shape[0]), np.diff(core.row_start))
        useful_rows[owner[gains]] = True
        open_ = (status == FREE) & (room[core.group] > 0) & (core.cost <= left) & useful_rows
        stay = np.nonzero(open_)[0]
        smaller, units, entries = compress(core, stay, base, room)
        gained = int((core.table[core.table_start[:-1] + base]).sum())
        return (
            Open(
                smaller, self.names[stay], self.units[units],
                self.kept + [int(self.names[u]) for u in kept], self.value + gained, left,
            ),
            entries,
        )  # fmt: skip


@dataclass(slots=True)
class Trace:
    """The proof as it grows: tape and layouts, in the whole problem's numbers."""

    group_names: Ints
    tape: Ints = field(default_factory=lambda: np.zeros(4096, np.int64))
    used: int = 0
    layouts: list[tuple[Block, ...]] = field(default_factory=list)

    def put(self, *words: int) -> None:
        if self.used + len(words) > len(self.tape):
            self.tape = np.concatenate([self.tape, np.zeros(len(self.tape) + len(words), np.int64)])
        self.tape[self.used : self.used + len(words)] = words
        self.used += len(words)

    def put_layout(self, plan: Plan, state: Open) -> Ints:
        """Declare a layout's blocks; returns the tape's number for each block."""
        layout, core = plan.layout, state.core
        if layout.dense:
            self.layouts.append(())
            self.put(BLOCKS, len(self.layouts) - 1)
            return state.units
        owner = self.group_names[state.names[core.group_start[:-1]]]
        size = np.bincount(plan.block)
        names = np.empty(len(size), np.int64)
        members = np.split(np.argsort(plan.block, kind="stable"), np.cumsum(size)[:-1])
        declared: list[Block] = []
        alone: list[int] = []
        inside = layout.inside[layout.layer_group]
        order = np.where(inside, owner[layout.layer_group], ~owner[layout.layer_group])
        starts, orders, flags = layout.block_layer.tolist(), order.tolist(), inside.tolist()
        for b in range(len(size)):
            first, last = starts[b], starts[b + 1]
            if size[b] > 1 or any(flags[first:last]):
                names[b] = len(declared)
                units = tuple(state.units[members[b]].tolist())
                declared.append((units, tuple(orders[first:last])))
            else:
                alone.append(b)
        for b in alone:
            names[b] = len(declared) + state.units[members[b][0]]
        self.layouts.append(tuple(declared))
        self.put(BLOCKS, len(self.layouts) - 1)
        return names


@dataclass(slots=True)
class Found:
    """The outcome of a large solve, in the packed problem's numbers."""

    value: int
    chosen: tuple[int, ...]
    closed: bool
    bound: int
    nodes: int
    tape: Ints
    layouts: tuple[tuple[Block, ...], ...]
    root_bound: float
    core_size: int


def prepare(packed: Packed, scale: int, slack: Ints) -> Open:
    """The useful part of a packed problem as the first core."""
    keep = useful(
        packed.cost, packed.group, packed.row_start, packed.unit, packed.level, packed.tops,
        packed.budget, packed.group_cap,
    )  # fmt: skip
    room = np.full(int(packed.group.max(initial=0)) + 1, packed.group_cap)
    whole = Core(
        packed.cost, packed.group, np.zeros(1, np.int64), room, packed.row_start, packed.unit,
        packed.level, packed.table_start, packed.table, packed.tops, slack, packed.group_cap,
        grain(packed.unit, packed.level, packed.table_start, packed.table, len(packed.tops)), scale,
    )  # fmt: skip
    stay = np.nonzero(keep)[0]
    core, units, _ = compress(whole, stay, np.zeros(len(packed.tops), np.int64), room)
    return Open(core, stay, units, [], 0, packed.budget)


def solve_large(
    packed: Packed,
    limits: Limits,
    group_names: Ints,
    scale: int,
    slack: Ints,
    hint: tuple[int, ...] = (),
) -> Found:
    """Solve one packed problem by bounding, fixing and branching."""
    state = prepare(packed, scale, slack)
    trace = Trace(group_names)
    core = state.core
    chosen = np.isin(state.names, np.array(hint, np.int64))
    scratch = np.zeros((2, len(core.top)), np.int64)
    sealed = seal(core)
    incumbent = int(improve(sealed, chosen, state.budget, 0, scratch[0], scratch[1]))
    best = tuple(state.names[chosen].tolist())
    if hint:
        plain = np.zeros(len(core.cost), np.bool_)
        value = int(fill(sealed, plain, state.budget, scratch[0], scratch[1]))
        if value > incumbent:
            incumbent, best = value, tuple(state.names[plain].tolist())
    reach = np.bincount(core.unit, weights=core.level, minlength=len(core.top)).astype(np.int64)
    most = int(core.table[core.table_start[:-1] + np.minimum(reach, core.top)].sum())
    if most <= incumbent:
        trace.put(ZERO, LEAF)
        return Found(
            incumbent, best, True, incumbent, 0, trace.tape[: trace.used], (), most, len(core.cost)
        )
    root = _Root(state, trace, incumbent, best, int(scale * incumbent // max(1, state.budget) // 2))
    try:
        for _ in range(LAYOUTS):
            root.lay_out()
            outcome = root.tighten(limits)
            if outcome is not None:
                return outcome
            if root.stuck:
                break
        return root.branch(limits)
    except KeyboardInterrupt:
        limits.interrupted = True
        return root.found(False, max(root.incumbent, int(min(root.lowest, most))))


@dataclass(slots=True)
class _Root:
    """The root node: multipliers, what they have fixed, the best store so far."""

    state: Open
    trace: Trace
    incumbent: int
    best: tuple[int, ...]
    mu: int
    plan: Plan | None = None
    prices: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    known: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    block_name: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    work: Work | None = None
    sealed: tuple[Any, ...] = ()
    status: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    pace: Floats = field(default_factory=lambda: np.array([-1.0, 0.0]))
    stop: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    nodes: int = 0
    lowest: float = np.inf
    stuck: bool = False

    def lay_out(self) -> None:
        """Shrink to what is still open, choose blocks for it and carry the prices over."""
        before, old_plan = self.state.core, self.plan
        entries = np.arange(before.unit.shape[0])
        if old_plan is not None:
            self.state, entries = self.state.shrink(self.status)
        core = self.state.core
        self.plan = choose_layout(core)
        layout = self.plan.layout
        if old_plan is None:
            self.prices = self.plan.break_even(core, self.mu)
            self.pace[1] = max(1.0, self.mu / 4)
        else:
            self.prices = self.plan.carry(old_plan, self.prices, core, entries, before, self.mu)
        self.block_name = self.trace.put_layout(self.plan, self.state)
        self.known = np.full(len(self.prices), UNSET, np.int64)
        self.work = workspace(core, layout)
        self.sealed = (seal(core), seal(layout), seal(self.work))
        self.status = np.zeros(len(core.cost), np.int64)

    def tighten(self, limits: Limits) -> Found | None:
        """Lower the bound and fix candidates until most are decided or nothing moves."""
        core, work, plan = self.state.core, self.work, self.plan
        if work is None or plan is None or not len(core.cost):
            return self._decided()
        scale = core.scale
        core_, layout, work_ = self.sealed
        heading, kept_prices = np.zeros(len(self.prices)), self.prices.copy()
        trail = np.empty(len(core.cost) + 1, np.int64)
        trailed, previous = 0, np.inf
        left = self.state.budget
        if self.lowest < np.inf:
            # New blocks may need other prices: aim as far as the bound has slipped.
            value = enter(core_, layout, work_, self.status, left, self.prices)
            bound, self.mu, _ = evaluate(
                core_, layout, work_, self.status, self.mu, left, value, self.prices
            )
            slipped = bound - (self.lowest - self.state.value) * scale
            self.pace[0] = max(self.pace[0], slipped)
            self.pace[1] = max(self.pace[1], self.mu / 64)
        while True:
            target = (self.incumbent - self.state.value + core.grain) * scale
            value = enter(core_, layout, work_, self.status, left, self.prices)
            bound, self.mu = ascend(
                core_, layout, work_, self.status, self.mu, left, value, self.prices, target, ROUNDS,
                self.pace, heading, kept_prices, self.stop,
            )  # fmt: skip
            self.nodes += 1
            self.lowest = min(self.lowest, self.state.value + bound / scale)
            if bound >= target:
                self._look_for_a_store()
                target = (self.incumbent - self.state.value + core.grain) * scale
            if work.counts[0] == 0:
                self.mu = 0
            self.trace.tape, self.trace.used = put_prices(
                core_, layout, work_, self.mu, self.prices, self.known, self.state.names,
                self.block_name, self.trace.tape, self.trace.used,
            )  # fmt: skip
            if bound < target or work.counts[0] == 0:
                self.trace.put(LEAF)
                return self.found(True, self.incumbent)
            bound = losses(core_, layout, work_, self.status, self.mu, left, value, self.prices)
            self.trace.tape, self.trace.used, trailed, spent = put_fixes(
                core_, work_, self.status, bound, target, self.state.names, self.trace.tape,
                self.trace.used, trail, trailed,
            )  # fmt: skip
            left -= spent
            if left < 0 or overfull(core_, self.status):
                self.trace.put(FULL)
                return self.found(True, self.incumbent)
            if limits.expired:
                return self.found(False, self.state.value + int(bound) // scale)
            free = int((self.status == FREE).sum())
            if free <= SHRINK_AT * len(core.cost):
                self.stuck = free <= SMALL_CORE
                return None
            if previous - bound < STALLED * (bound - target):
                self.stuck = True
                return None
            previous = bound

    def _look_for_a_store(self) -> None:
        """Turn what groups and blocks picked into a store."""
        core, work = self.state.core, self.work
        if work is None:
            return
        trial = (work.picked > 0.5) & (self.status == FREE)
        trial[work.best[work.best >= 0]] = True
        trial |= self.status == KEPT
        scratch = np.zeros((2, len(core.top)), np.int64)
        passes = 3 if len(core.cost) <= SWAP_LIMIT else 0
        value = self.state.value + int(
            improve(self.sealed[0], trial, self.state.budget, passes, scratch[0], scratch[1])
        )
        if value > self.incumbent:
            self.incumbent = value
            self.best = (*self.state.kept, *self.state.names[trial].tolist())

    def _decided(self) -> Found:
        """Nothing is open: what is kept is the only store left."""
        if self.state.value > self.incumbent:
            self.incumbent, self.best = self.state.value, tuple(self.state.kept)
        self.trace.put(MU, 0, LEAF)
        return self.found(True, self.incumbent)

    def branch(self, limits: Limits) -> Found:
        """Branch and bound on the core that is left."""
        self.lay_out()
        core, plan, work = self.state.core, self.plan, self.work
        if work is None or plan is None or not len(core.cost):
            return self._decided()
        store = np.zeros(len(core.cost), np.bool_)
        value, closed, count, open_bound, self.trace.tape, self.trace.used = interruptible(
            (
                *self.sealed, self.state.budget, self.incumbent - self.state.value, store,
                NODE_ROUNDS, limits.nodes or 1 << 60, self.mu, self.prices, self.known,
                self.state.names, self.block_name, self.trace.tape, self.trace.used, self.stop,
            ),
            limits,
        )  # fmt: skip
        self.nodes += int(count)
        self.incumbent = int(value) + self.state.value
        if store.any():
            self.best = (*self.state.kept, *self.state.names[store].tolist())
        upper = self.incumbent
        if not closed:
            open_value = min(self.state.value + int(open_bound) // core.scale, int(self.lowest))
            upper = max(upper, open_value)
        return self.found(bool(closed), upper)

    def found(self, closed: bool, bound: int) -> Found:
        trace = self.trace
        return Found(
            self.incumbent, tuple(sorted(self.best)), closed, bound, self.nodes,
            trace.tape[: trace.used], tuple(trace.layouts), self.lowest, len(self.state.core.cost),
        )  # fmt: skip


def interruptible(arguments: tuple[Any, ...], limits: Limits) -> tuple[Any, ...]:
    """Run the search in a thread, so that a time limit or Ctrl-C can ask it to stop."""
    stop = arguments[-1]
    outcome: list[Any] = []
    done = threading.Event()

    def work() -> None:
        try:
            outcome.append(search(*arguments))
        except BaseException as error:  # noqa: BLE001 - handed on to the waiting thread
            outcome.append(error)
        finally:
            done.set()

    threading.Thread(target=work, daemon=True).start()
    while not done.is_set():
        try:
            done.wait(limits.left)
        except KeyboardInterrupt:
            limits.interrupted = True
        if limits.expired:
            stop[0] = 1
            limits = Limits()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return tuple(outcome[0])

"""The root of a large solve: bound, fix, shrink, and again; then branch and bound on what is left."""

import threading
from dataclasses import dataclass, field

import numpy as np

from memaudit.solvers.compiled.ascend import node_bound
from memaudit.solvers.compiled.bound import losses, workspace
from memaudit.solvers.compiled.layout import Plan, choose_layout
from memaudit.solvers.compiled.primal import fill, improve
from memaudit.solvers.compiled.reduce import compress, useful
from memaudit.solvers.compiled.search import (
    BLOCKS, FULL, LEAF, UNSET, ZERO, overfull, put_fixes, put_prices, search,
)  # fmt: skip
from memaudit.solvers.compiled.types import FREE, KEPT, Core, Flags, Ints
from memaudit.solvers.packed import Packed, grain_of
from memaudit.solvers.protocol import Limits

Block = tuple[tuple[int, ...], tuple[int, ...]]

ROUNDS = 60
CHUNKS = 12
NODE_ROUNDS = 10
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
        grain_of(packed), scale,
    )  # fmt: skip
    stay = np.nonzero(keep)[0]
    core, units, _ = compress(whole, stay, np.zeros(len(packed.tops), np.int64), room)
    return Open(core, stay, units, [], 0, packed.budget)


def solve_large(
    packed: Packed, limits: Limits, group_names: Ints, scale: int, slack: Ints,
    hint: tuple[int, ...] = (),
) -> Found:
    """Solve one packed problem by bounding, fixing and branching."""
    state = prepare(packed, scale, slack)
    trace = Trace(group_names)
    core = state.core
    chosen = np.isin(state.names, np.array(hint, np.int64))
    scratch = np.zeros((2, len(core.top)), np.int64)
    incumbent = int(improve(core, chosen, state.budget, 0, scratch[0], scratch[1]))
    best = tuple(state.names[chosen].tolist())
    if hint:
        plain = np.zeros(len(core.cost), np.bool_)
        value = int(fill(core, plain, state.budget, scratch[0], scratch[1]))
        if value > incumbent:
            incumbent, best = value, tuple(state.names[plain].tolist())
    reach = np.bincount(core.unit, weights=core.level, minlength=len(core.top)).astype(np.int64)
    most = int(core.table[core.table_start[:-1] + np.minimum(reach, core.top)].sum())
    if most <= incumbent:
        trace.put(ZERO, LEAF)
        return Found(
            incumbent, best, True, incumbent, 0, trace.tape[: trace.used], (), most, len(core.cost)
        )
    root_bound = float(most)
    plan: Plan | None = None
    prices = np.empty(0, np.int64)
    mu = int(scale * incumbent // max(1, state.budget) // 2)
    entries = np.empty(0, np.int64)
    stop = np.zeros(1, np.int64)
    pace = np.array([-1.0, max(1.0, mu / 4)])
    old: Open | None = None
    nodes = 0
    last_bound = 0
    for chunk in range(CHUNKS):
        fresh = choose_layout(state.core)
        layout, core = fresh.layout, state.core
        if plan is None or old is None:
            prices = layout.pair_ceiling.copy()
        else:
            prices = fresh.carry(plan, prices, core, entries, old.core)
        plan = fresh
        block_name = trace.put_layout(plan, state)
        known = np.full(len(prices), UNSET, np.int64)
        work = workspace(core, layout)
        status = np.zeros(len(core.cost), np.int64)
        heading, kept_prices = np.zeros(len(prices)), prices.copy()
        target = (incumbent - state.value + core.grain) * scale
        bound, mu, value = node_bound(
            core, layout, work, status, mu, state.budget, prices, target, ROUNDS, pace, heading,
            kept_prices, stop,
        )  # fmt: skip
        root_bound = min(root_bound, state.value + bound / scale)
        if bound >= target:
            trial = work.picked > 0.5
            inside = work.best[work.best >= 0]
            trial[inside] = True
            scratch = np.zeros((2, len(core.top)), np.int64)
            passes = 3 if len(core.cost) <= SWAP_LIMIT else 0
            found = state.value + int(
                improve(core, trial, state.budget, passes, scratch[0], scratch[1])
            )
            if found > incumbent:
                incumbent = found
                best = (*state.kept, *state.names[trial].tolist())
                target = (incumbent - state.value + core.grain) * scale
        trace.tape, trace.used = put_prices(
            core, layout, work, mu, prices, known, state.names, block_name, trace.tape, trace.used
        )
        nodes += 1
        if bound < target:
            trace.put(LEAF)
            return _found(incumbent, best, True, incumbent, nodes, trace, root_bound, state)
        bound = losses(core, layout, work, status, mu, state.budget, value, prices)
        trail = np.empty(len(core.cost) + 1, np.int64)
        trace.tape, trace.used, fixed, spent = put_fixes(
            core, work, status, bound, target, state.names, trace.tape, trace.used, trail, 0
        )
        if spent > state.budget or overfull(core, status):
            trace.put(FULL)
            return _found(incumbent, best, True, incumbent, nodes, trace, root_bound, state)
        if limits.expired:
            upper = state.value + bound // scale
            return _found(incumbent, best, False, upper, nodes, trace, root_bound, state)
        before = len(core.cost)
        old = state
        state, entries = state.shrink(status)
        if len(state.core.cost) == 0:
            # Everything is decided: what is kept is the only store left, and it is known.
            if state.value > incumbent:
                incumbent, best = state.value, tuple(state.kept)
            trace.put(2, 0, LEAF)
            return _found(incumbent, best, True, incumbent, nodes, trace, root_bound, state)
        slow = last_bound and last_bound - bound < 0.02 * (bound - target)
        last_bound = bound
        if len(state.core.cost) > 0.9 * before and (slow or chunk > 4):
            break
    return _search(state, plan, old, prices, entries, mu, incumbent, best, limits, trace,
                   root_bound, nodes, stop)  # fmt: skip


def _search(
    state: Open, plan: Plan, old: Open | None, prices: Ints, entries: Ints, mu: int,
    incumbent: int, best: tuple[int, ...], limits: Limits, trace: Trace, root_bound: float,
    nodes: int, stop: Ints,
) -> Found:
    """Branch and bound on the core that is left."""
    fresh = choose_layout(state.core)
    if old is not None:
        prices = fresh.carry(plan, prices, state.core, entries, old.core)
    block_name = trace.put_layout(fresh, state)
    core = state.core
    store = np.zeros(len(core.cost), np.bool_)
    known = np.full(len(prices), UNSET, np.int64)
    arguments = (
        core, fresh.layout, workspace(core, fresh.layout), state.budget, incumbent - state.value,
        store, NODE_ROUNDS, limits.nodes or 1 << 60, mu, prices, known, state.names, block_name,
        trace.tape, trace.used, stop,
    )  # fmt: skip
    value, closed, count, open_bound, trace.tape, trace.used = interruptible(arguments, limits)
    if store.any():
        best = (*state.kept, *state.names[store].tolist())
    value = int(value) + state.value
    upper = value if closed else max(value, state.value + int(open_bound) // core.scale)
    return _found(value, best, closed, upper, nodes + int(count), trace, root_bound, state)


def interruptible(arguments: tuple, limits: Limits) -> tuple:  # type: ignore[type-arg]
    """Run the search in a thread, so that a time limit or Ctrl-C can ask it to stop."""
    stop = arguments[-1]
    outcome: list[tuple] = []  # type: ignore[type-arg]
    worker = threading.Thread(target=lambda: outcome.append(search(*arguments)), daemon=True)
    worker.start()
    while worker.is_alive():
        try:
            worker.join(limits.left)
            if limits.expired:
                stop[0] = 1
                worker.join()
        except KeyboardInterrupt:
            stop[0] = 1
            worker.join()
    return outcome[0]


def _found(
    value: int, best: tuple[int, ...], closed: bool, bound: int, nodes: int, trace: Trace,
    root_bound: float, state: Open,
) -> Found:
    return Found(
        value, tuple(sorted(best)), closed, bound, nodes, trace.tape[: trace.used],
        tuple(trace.layouts), root_bound, len(state.core.cost),
    )  # fmt: skip


__all__ = ["Flags", "Found", "solve_large"]

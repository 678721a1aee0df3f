"""One core with its layout and multipliers, and the proof that a solve writes (see checker.py)."""

from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from memaudit.kernel.package.optimum import Block, Layout
from memaudit.kernel.solvers.compiled.blocks import Plan, choose_layout
from memaudit.kernel.solvers.compiled.bound import visit, workspace
from memaudit.kernel.solvers.compiled.primal import improve, shake
from memaudit.kernel.solvers.compiled.problem import OpenProblem
from memaudit.kernel.solvers.compiled.types import BANNED, FREE, KEPT, Floats, Ints, seal
from memaudit.kernel.solvers.protocol import FIX, LAYOUT, MU, PRICE

MOST_SWAPS = 50_000_000
"""When a store is shaken: fewer tries where each has many swaps to consider."""


@dataclass(slots=True)
class Trace:
    """Tape and layouts, in the whole problem's numbers."""

    group_names: Ints
    tape: list[int] = field(default_factory=list)
    layouts: list[Layout] = field(default_factory=list)

    def put(self, *words: int) -> None:
        self.tape.extend(words)

    def put_prices(self, candidates: Ints, blocks: Ints, prices: Ints) -> None:
        """Prices the checker does not know yet."""
        if len(prices):
            self.put(PRICE, len(prices))
            self.tape.extend(np.column_stack((candidates, blocks, prices)).ravel().tolist())

    def put_fixes(self, banned: Ints, kept: Ints) -> None:
        """Candidates decided because their other choice falls below the target."""
        self.put(FIX, len(banned), *banned.tolist(), len(kept), *kept.tolist())

    def put_layout(self, plan: Plan, state: OpenProblem) -> Ints:
        """Declare a layout's blocks; returns the proof's number for each block."""
        declared: list[Block] = []
        names = state.units
        if not plan.layout.dense:
            names = self._declare(plan, state, declared)
        layout = tuple(declared)
        # All dense stages have the empty layout; the proof has each layout once.
        if layout not in self.layouts:
            self.layouts.append(layout)
        self.put(LAYOUT, self.layouts.index(layout))
        return names

    def _declare(self, plan: Plan, state: OpenProblem, declared: list[Block]) -> Ints:
        """List the blocks that are more than a lone unit; lone units are numbered after them."""
        layout = plan.layout
        # A layer's group by its name in the whole problem; ~g says that g links several blocks.
        owner = self.group_names[state.names[state.core.group_start[:-1]]][layout.layer_group]
        inside = layout.inside[layout.layer_group]
        order = np.where(inside, owner, ~owner).tolist()
        size = np.bincount(plan.block)
        members = np.split(state.units[np.argsort(plan.block, kind="stable")], np.cumsum(size)[:-1])
        starts, flags = layout.block_layer.tolist(), inside.tolist()
        names = np.full(len(size), -1, np.int64)
        for b in range(len(size)):
            first, last = starts[b], starts[b + 1]
            # A lone unit whose groups all link is what the checker takes an undeclared unit for.
            if size[b] > 1 or any(flags[first:last]):
                names[b] = len(declared)
                declared.append((tuple(members[b].tolist()), tuple(order[first:last])))
        for b in np.nonzero(names < 0)[0].tolist():
            names[b] = len(declared) + members[b][0]
        return names


UNSET = -1
"""The price of a pair that is not in the proof yet."""


class Stage:
    """One layout of an open problem, and what its multipliers have decided so far."""

    def __init__(self, state: OpenProblem, plan: Plan, prices: Ints, trace: Trace) -> None:
        core, layout = state.core, plan.layout
        self.state, self.plan, self.prices, self.trace = state, plan, prices, trace
        self.status = np.zeros(len(core.cost), np.int64)
        self.known = np.full(len(prices), UNSET, np.int64)
        self.work = workspace(core, layout)
        self.sealed: tuple[Any, Any, Any] = seal(core), seal(layout), seal(self.work)
        self.left = state.budget
        self.value = 0
        self._block_names = trace.put_layout(plan, state)[layout.pair_block]
        self._pair_owner = np.repeat(np.arange(len(core.cost)), np.diff(layout.pair_start))
        self._heading, self._best = np.zeros(len(prices)), prices.copy()
        self._levels = np.zeros((2, len(core.top)), np.int64)

    @classmethod
    def first(cls, state: OpenProblem, mu: int, trace: Trace) -> "Stage":
        plan = choose_layout(state.core)
        return cls(state, plan, plan.break_even(state.core, mu), trace)

    def next(self, mu: int) -> "Stage":
        """The stage of what is still open, with the prices carried over."""
        state, entries = self.state.shrink(self.status)
        plan = choose_layout(state.core)
        prices = plan.carry(self.plan, self.prices, state.core, entries, self.state.core, mu)
        return Stage(state, plan, prices, self.trace)

    def twin(self) -> "Stage":
        """The same stage with scratch arrays of its own, for another thread."""
        # Core and layout are shared, they are only read. Everything a bound writes is the twin's
        # own.
        other = copy(self)
        other.trace = replace(self.trace, tape=[])
        other.status, other.known = self.status.copy(), self.known.copy()
        other.prices, other._best = self.prices.copy(), self.prices.copy()
        other.work = workspace(self.state.core, self.plan.layout)
        other.sealed = (*self.sealed[:2], seal(other.work))
        other._heading, other._levels = np.zeros(len(self.prices)), self._levels.copy()
        return other

    def nearly_decided(self, size: int) -> "Stage | None":
        """A stage of its own on the `size` least decided candidates, or None where that fails."""
        active, work = self.active, self.work
        if len(active) <= size:
            return None
        # A candidate is as decided as the larger of its losses: that way is nearly excluded.
        decided = np.maximum(work.loss_in[active], work.loss_out[active])
        far = active[np.argsort(-decided, kind="stable")[:-size]]
        status = self.status.copy()
        # The side with the smaller loss: the way the bound leans.
        status[far] = np.where(work.loss_in[far] >= work.loss_out[far], BANNED, KEPT)
        kept = np.bincount(self.state.core.group[status == KEPT], minlength=1)
        if self.state.core.cost[status == KEPT].sum() > self.state.budget or kept.max() > 1:
            return None
        state, entries = self.state.shrink(status)
        if not len(state.core.cost):
            return None
        plan = choose_layout(state.core)
        prices = plan.carry(self.plan, self.prices, state.core, entries, self.state.core, 0)
        return Stage(state, plan, prices, Trace(self.trace.group_names))

    def bound(self, mu: int, target: int, rounds: int, pace: Floats) -> tuple[int, int]:
        """The best bound of the present node within some rounds, and its mu.

        Where it stays at or above the target, the losses of all open candidates are known too.
        """
        bound, mu, self.value = visit(
            *self.sealed,
            self.status,
            mu,
            self.left,
            self.prices,
            target,
            rounds,
            pace,
            self._heading,
            self._best,
        )
        return bound, mu

    @property
    def active(self) -> Ints:
        """The candidates still open at the present node."""
        return self.work.active[: self.work.counts[0]]

    def write_multipliers(self, mu: int) -> None:
        """Write mu and the prices that changed into the proof."""
        self.trace.put(MU, mu)
        # Prices of candidates that are decided or out of reach change nothing, so they stay
        # unwritten (`known` keeps them due).
        matters = np.zeros(len(self.status), np.bool_)
        matters[self.active] = True
        news = np.nonzero((self.known != self.prices) & matters[self._pair_owner])[0]
        self.known[news] = self.prices[news]
        owners = self.state.names[self._pair_owner[news]]
        self.trace.put_prices(owners, self._block_names[news], self.prices[news])

    def fix(self, bound: int, target: int) -> Ints:
        """Decide every open candidate whose other choice falls below the target."""
        active = self.active
        # Each fall is the bound's with only that candidate decided, so several may be decided from
        # one bound: every store of the target's value is on the side that stays, for each of them.
        bans = bound - self.work.loss_in[active] < target
        # Where both sides fall below the target the node is as good as closed; to ban is enough,
        # and the checker refuses a candidate that is fixed twice.
        keeps = ~bans & (bound - self.work.loss_out[active] < target)
        banned, kept = active[bans], active[keeps]
        if len(banned) or len(kept):
            self.status[banned] = BANNED
            self.status[kept] = KEPT
            self.left -= int(self.state.core.cost[kept].sum())
            self.trace.put_fixes(self.state.names[banned], self.state.names[kept])
        return active[bans | keeps]

    @property
    def broken(self) -> bool:
        """Whether what is kept exceeds the budget or a group's room."""
        core = self.state.core
        kept = np.bincount(core.group[self.status == KEPT], minlength=len(core.room))
        return self.left < 0 or bool((kept > core.room).any())

    def store(self, passes: int) -> tuple[int, tuple[int, ...]]:
        """A store from what groups and blocks picked: its value and candidates, in all."""
        work, state = self.work, self.state
        # Groups at prices oversell what blocks do not buy twice, so this may break the budget or a
        # cap: `improve` drops what is worth least, then fills up.
        trial = (work.picked > 0.5) & (self.status == FREE)
        trial[work.best[work.best >= 0]] = True
        trial[self.status == KEPT] = True
        value = improve(self.sealed[0], trial, state.budget, passes, *self._levels)
        return state.value + int(value), (*state.kept, *state.names[trial].tolist())

    def shaken(self, store: tuple[int, ...], tries: int) -> tuple[int, tuple[int, ...]]:
        """A store that is at least as good as the part of another one that is still possible."""
        state = self.state
        trial = np.isin(state.names, np.array(store, np.int64))
        improve(self.sealed[0], trial, state.budget, 1, *self._levels)
        # The number of tries follows from sizes, never from the clock: the same store on any
        # machine.
        tries = min(tries, 1 + MOST_SWAPS // (1 + int(trial.sum()) * len(trial)))
        value = shake(self.sealed[0], trial, state.budget, tries, *self._levels)
        return state.value + int(value), (*state.kept, *state.names[trial].tolist())

    def kept_store(self) -> tuple[int, ...]:
        """The candidates kept at the present node, in all."""
        return (*self.state.kept, *self.state.names[self.status == KEPT].tolist())

    @property
    def many_levels(self) -> bool:
        """Whether every unit is a block of its own, and not all are done after two levels."""
        return self.plan.layout.dense and bool(self.state.core.top.max(initial=0) > 2)

    def branching(self) -> int:
        """The open candidate whose exclusion, or at least whose decision, moves the bound most.

        With many levels, the one that earns most while the relaxation takes it only in part.
        """
        open_ = self.active[self.status[self.active] == FREE]
        out, in_ = self.work.loss_out[open_], self.work.loss_in[open_]
        if self.many_levels:
            part = self.work.share[open_]
            # (1 - f) / 2 and not 1 - f: to keep what is nearly taken moves the bound little.
            # Measured on dense packages: twice as fast as the rule below, while f without the
            # profit needed twice the nodes.
            split = self.work.profit[open_] * np.minimum(part, (1 - part) / 2)
            return int(open_[np.argmax(split + out)])
        # To ban must hurt, since the banned side has no budget spent; that keeping hurts as well is
        # worth as much again, up to that. The product of the two needed eight times the nodes.
        return int(open_[np.argmax(out + np.minimum(in_, out))])

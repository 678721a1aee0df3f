"""The proof as a solve writes it down; its language is described in memaudit/checker.py."""

from dataclasses import dataclass, field

import numpy as np

from memaudit.core.optimum import Block, Layout
from memaudit.solvers.compiled.layout import Plan
from memaudit.solvers.compiled.problem import Open
from memaudit.solvers.compiled.types import Ints

LEAF, BRANCH, MU, PRICE, FIX, ZERO, BLOCKS, FULL = range(8)


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

    def put_layout(self, plan: Plan, state: Open) -> Ints:
        """Declare a layout's blocks; returns the proof's number for each block."""
        declared: list[Block] = []
        names = state.units
        if not plan.layout.dense:
            names = self._declare(plan, state, declared)
        self.layouts.append(tuple(declared))
        self.put(BLOCKS, len(self.layouts) - 1)
        return names

    def _declare(self, plan: Plan, state: Open, declared: list[Block]) -> Ints:
        """List the blocks that are more than a lone unit; lone units are numbered after them."""
        layout = plan.layout
        owner = self.group_names[state.names[state.core.group_start[:-1]]][layout.layer_group]
        inside = layout.inside[layout.layer_group]
        order = np.where(inside, owner, ~owner).tolist()
        size = np.bincount(plan.block)
        members = np.split(state.units[np.argsort(plan.block, kind="stable")], np.cumsum(size)[:-1])
        starts, flags = layout.block_layer.tolist(), inside.tolist()
        names = np.full(len(size), -1, np.int64)
        for b in range(len(size)):
            first, last = starts[b], starts[b + 1]
            if size[b] > 1 or any(flags[first:last]):
                names[b] = len(declared)
                declared.append((tuple(members[b].tolist()), tuple(order[first:last])))
        for b in np.nonzero(names < 0)[0].tolist():
            names[b] = len(declared) + members[b][0]
        return names

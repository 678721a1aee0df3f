"""A form as flat int64 arrays: the input of the compiled solver and of the benchmark's peers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.solvers.form import Form
from memaudit.kernel.solvers.small import grain

Ints = NDArray[np.int64]

SCALE = 1024
"""Multipliers are whole numbers of 1/SCALE; the checker counts the same way."""

FINE = 1 << 16
"""Where there is room for it: duals of a linear programme lose less when they are rounded."""

LARGEST = 1 << 57
"""No sum or product of the compiled solver may reach this; other forms stay in Python integers."""


@dataclass(frozen=True, slots=True)
class Packed:
    """Rows in CSR form. `table[table_start[r] + z]` is unit r's value at coverage level z.

    Groups are numbered 0.. without gaps and candidates are sorted by group. `root_grain` is that
    of the form.
    """

    cost: Ints
    group: Ints
    row_start: Ints
    unit: Ints
    level: Ints
    table_start: Ints
    table: Ints
    budget: int
    group_cap: int
    root_grain: int | None = None

    @property
    def rows(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Candidates and their cells, in the order in which kernels take them."""
        return self.cost, self.group, self.row_start, self.unit, self.level

    @property
    def useful_cap(self) -> int:
        """The group cap for `useful`, which leaves out dominated candidates only at cap 1."""
        return self.group_cap if self.root_grain is None else max(2, self.group_cap)

    @property
    def has_room(self) -> bool:
        """Whether multipliers may be whole numbers of 1/FINE. Branches of one proof count alike."""
        return self.root_grain is None and self._highest_rent * FINE < LARGEST

    @property
    def _highest_rent(self) -> int:
        most = int(self.table[self.table_start[1:] - 1].sum()) + 1
        cheapest = int(self.cost[self.cost > 0].min(initial=self.budget + 1))
        return most * (self.budget // cheapest + 1)

    @property
    def tops(self) -> Ints:
        """Per unit, the highest level that still counts."""
        return np.diff(self.table_start) - 1


def clean(packed: Packed) -> Packed:
    """The same problem without the cells of units that are worth nothing."""
    worthless = packed.table[packed.table_start[1:] - 1] == 0
    if not worthless.any():
        return packed
    # Such units come of problems without a package (the benchmark); forms have left them out.
    stays = ~worthless[packed.unit]
    return replace(
        packed,
        row_start=starts_of(stays)[packed.row_start],
        unit=packed.unit[stays],
        level=packed.level[stays],
    )


def pack(form: Form) -> Packed | None:
    """The form in int64, or None where its numbers or tables are too large for that."""
    if any(level.table is None for level in form.levels):
        return None
    tables = [level.table or () for level in form.levels]
    most = sum(table[-1] for table in tables) + 1
    cheapest = min((cost for cost in form.cost if cost > 0), default=1)
    # The largest price of the budget that can matter is that at which the cheapest candidate must
    # earn all there is; times the budget it is the largest number in any bound.
    highest_rent = SCALE * most * (form.budget // cheapest + 1)
    if highest_rent >= LARGEST or most * (form.budget + 1) >= LARGEST or sum(form.cost) >= LARGEST:
        return None
    # Compiled code wants groups without gaps; the proof's numbers are kept beside (`groups`).
    used = sorted(set(form.group))
    renumber = {group: index for index, group in enumerate(used)}
    return Packed(
        cost=np.array(form.cost, dtype=np.int64),
        group=np.array([renumber[group] for group in form.group], dtype=np.int64),
        row_start=starts_of([len(row) for row in form.rows]),
        unit=np.array([unit for row in form.rows for unit, _ in row], dtype=np.int64),
        level=np.array([level for row in form.rows for _, level in row], dtype=np.int64),
        table_start=starts_of([len(table) for table in tables]),
        table=np.array([value for table in tables for value in table], dtype=np.int64),
        budget=form.budget,
        group_cap=min(form.group_cap, max(2, *(len(group) for group in form.groups), 0)),
        root_grain=form.root_grain,
    )


def starts_of(lengths: Sequence[int] | Ints) -> Ints:
    """Where each of the parts of these lengths starts, and where the last one ends."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def grain_of(packed: Packed) -> int:
    """A number that divides the value of every store."""
    if packed.root_grain is not None:
        return packed.root_grain
    return int(grain(packed.unit, packed.level, packed.table_start, packed.table, len(packed.tops)))

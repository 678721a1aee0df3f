"""What is left of a problem to decide, and how its numbers map back to the whole."""

from dataclasses import dataclass

import numpy as np

from memaudit.solvers.compiled.reduce import compress, grain, useful
from memaudit.solvers.compiled.types import FREE, KEPT, Core, Ints
from memaudit.solvers.packed import Packed


@dataclass(frozen=True, slots=True)
class Open:
    """The open core; `names` and `units` are its candidates' and units' original numbers.

    The candidates in `kept` are decided: they are worth `value` and have left `budget`.
    """

    core: Core
    names: Ints
    units: Ints
    kept: tuple[int, ...]
    value: int
    budget: int

    def shrink(self, status: Ints) -> tuple["Open", Ints]:
        """Take the kept candidates as given and drop the banned ones; also the entries left."""
        core = self.core
        owner = np.repeat(np.arange(len(core.cost)), np.diff(core.row_start))
        kept = np.nonzero(status == KEPT)[0]
        given = status[owner] == KEPT
        base = np.bincount(core.unit[given], core.level[given], len(core.top)).astype(np.int64)
        base = np.minimum(base, core.top)
        room = core.room - np.bincount(core.group[kept], minlength=len(core.room))
        left = self.budget - int(core.cost[kept].sum())
        covers = np.zeros(len(core.cost), np.bool_)
        covers[owner[base[core.unit] < core.top[core.unit]]] = True
        stay = (status == FREE) & (room[core.group] > 0) & (core.cost <= left) & covers
        open_ = np.nonzero(stay)[0]
        smaller, units, entries = compress(core, open_, base, room)
        value = self.value + int(core.table[core.table_start[:-1] + base].sum())
        names = (*self.kept, *self.names[kept].tolist())
        return Open(smaller, self.names[open_], self.units[units], names, value, left), entries


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
        grain(packed.unit, packed.level, packed.table_start, packed.table, len(packed.tops)),
        scale,
    )  # fmt: skip
    stay = np.nonzero(keep)[0]
    core, units, _ = compress(whole, stay, np.zeros(len(packed.tops), np.int64), room)
    return Open(core, stay, units, (), 0, packed.budget)

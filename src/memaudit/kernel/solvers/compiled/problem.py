"""Shrinking a problem without changing its optimum."""

from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

from memaudit.kernel.package.optimum import COARSE, Layout
from memaudit.kernel.solvers import small
from memaudit.kernel.solvers.compiled.types import FREE, KEPT, Core, Flags, Ints
from memaudit.kernel.solvers.packed import Packed, starts_of

# The functions of small.py call each other. Compiled, they must call each other's compiled forms,
# so they get a copy of their module's names in which those stand.
_names: dict[str, Any] = dict(vars(small))
for _name, _function in vars(small).items():
    if isinstance(_function, FunctionType) and _function.__module__ == small.__name__:
        _names[_name] = njit(cache=True)(FunctionType(_function.__code__, _names, _name))
useful, grain, small_search = (_names[name] for name in ("useful", "grain", "small_search"))


def compress(core: Core, stay: Ints, base: Ints, room: Ints) -> tuple[Core, Ints, Ints]:
    """The core left when only `stay` is open, the units stand at `base` and groups have `room`.

    Values count from there on. Also returns the units and the row entries that stay.
    """
    lengths = np.diff(core.row_start)[stay]
    starts = starts_of(lengths)
    entries = np.repeat(core.row_start[stay] - starts[:-1], lengths) + np.arange(starts[-1])
    # Cells of units that are full add nothing any more; without them rows and tables get shorter,
    # and a block stays small.
    entries = entries[base[core.unit[entries]] < core.top[core.unit[entries]]]
    owner = np.searchsorted(core.row_start, entries, side="right") - 1
    # Candidates keep their order, so groups stay together and ties fall the same way as before.
    place = np.full(core.cost.shape[0], -1, np.int64)
    place[stay] = np.arange(len(stay))
    row_start = starts_of(np.bincount(place[owner], minlength=len(stay)))
    mark = np.zeros(core.top.shape[0], np.int64)
    mark[core.unit[entries]] = 1
    units = np.nonzero(mark)[0]
    mark[units] = np.arange(len(units))
    owners = core.group[stay]
    first = np.ones(len(stay), np.bool_)
    first[1:] = owners[1:] != owners[:-1]
    sizes = core.top[units] - base[units] + 1
    table_start = starts_of(sizes)
    # Tables are cut off below the level that is given and count from its value: what is kept is
    # worth `value` outside, and the checker's bound of the node is that value plus this one's.
    offsets = core.table_start[units] + base[units]
    cells = np.repeat(offsets - table_start[:-1], sizes) + np.arange(table_start[-1])
    smaller = core._replace(
        cost=core.cost[stay],
        group=np.cumsum(first) - 1,
        group_start=np.append(np.nonzero(first)[0], len(stay)),
        room=room[owners[first]],
        row_start=row_start,
        unit=mark[core.unit[entries]],
        level=core.level[entries],
        table_start=table_start,
        table=core.table[cells] - np.repeat(core.table[offsets], sizes),
        top=core.top[units] - base[units],
        slack=core.slack[units],
    )
    return smaller, units, entries


@dataclass(frozen=True, slots=True)
class OpenProblem:
    """The open core; `names` and `units` are its candidates' and units' original numbers.

    The candidates in `kept` are decided: they are worth `value` and have left `budget`.
    """

    core: Core
    names: Ints
    units: Ints
    kept: tuple[int, ...]
    value: int
    budget: int

    def shrink(self, status: Ints) -> tuple["OpenProblem", Ints]:
        """Take the kept candidates as given and drop the banned ones; also the entries left."""
        core = self.core
        owner = np.repeat(np.arange(len(core.cost)), np.diff(core.row_start))
        kept = np.nonzero(status == KEPT)[0]
        given = status[owner] == KEPT
        base = np.bincount(core.unit[given], core.level[given], len(core.top)).astype(np.int64)
        # More than the top is the same as the top. Both sides of a cell, `base` and the level, are
        # cut off there by everybody, so the bounds stay those of the checker number for number.
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
        return OpenProblem(
            smaller, self.names[open_], self.units[units], names, value, left
        ), entries


@njit(cache=True)
def replaceable(
    cost: Ints, group: Ints, row_start: Ints, unit: Ints, level: Ints, top: Ints, budget: int
) -> Flags:
    """Candidates that others, alone in their groups, can replace (`useful` in checker.py)."""
    count = cost.shape[0]
    able, total = np.zeros(count, np.bool_), np.zeros(count, np.int64)
    size = np.zeros(group.max() + 1, np.int64)
    for u in range(count):
        able[u] = cost[u] <= budget and row_start[u] < row_start[u + 1]
        if able[u]:
            size[group[u]] += 1
        for entry in range(row_start[u], row_start[u + 1]):
            total[u] += min(level[entry], top[unit[entry]])
    # The order in which candidates are taken is that of `useful` in the checker: by cost, then by
    # what they cover in all, then by number. Whatever can replace u comes before it.
    # Per unit, those that are alone so far, in a list with links.
    head, number = np.full(top.shape[0], -1), np.zeros(top.shape[0], np.int64)
    link = np.full(unit.shape[0], -1)
    owner = np.zeros(unit.shape[0], np.int64)
    for u in range(count):
        for entry in range(row_start[u], row_start[u + 1]):
            owner[entry] = u
    gone = np.zeros(count, np.bool_)
    need, missing = np.zeros(top.shape[0], np.int64), np.zeros(top.shape[0], np.int64)
    by_total = np.argsort(-total, kind="mergesort")
    # Two stable sorts: by cost, and among equals by total, which `by_total` has put in order.
    for u in by_total[np.argsort(cost[by_total], kind="mergesort")]:
        if not able[u]:
            continue
        first, last = row_start[u], row_start[u + 1]
        scarcest = unit[first]
        for entry in range(first, last):
            r = unit[entry]
            need[r], missing[r] = min(level[entry], top[r]), top[r]
            if number[r] < number[scarcest]:
                scarcest = r
        # Everybody who can replace u covers all of its units, so the list of the scarcest has them
        # all. `missing` is what they leave of each unit's top; u goes where nothing is missing
        # anywhere.
        open_, other = last - first, head[scarcest]
        while other >= 0 and open_ > 0:
            v, covered = owner[other], 0
            for entry in range(row_start[v], row_start[v + 1]):
                r = unit[entry]
                covered += need[r] > 0 and min(level[entry], top[r]) >= need[r]
            if covered == last - first:
                for entry in range(row_start[v], row_start[v + 1]):
                    r = unit[entry]
                    if need[r] > 0 and missing[r] > 0:
                        missing[r] -= min(level[entry], top[r])
                        open_ -= missing[r] <= 0
            other = link[other]
        # A candidate that is gone stays in the lists: exchanges move to earlier candidates only, so
        # they end, whoever else is left out (the argument is in the checker's `useful`).
        gone[u] = open_ == 0
        for entry in range(first, last):
            r = unit[entry]
            need[r] = 0
            if size[group[u]] == 1:
                link[entry], head[r] = head[r], entry
                number[r] += 1
    return gone


def prepare(packed: Packed, scale: int, slack: Ints, across: bool = False) -> OpenProblem:
    """The useful part of a packed problem as the first core, also `across` groups."""
    keep = useful(*packed.rows, packed.tops, packed.budget, packed.useful_cap)
    if across and len(keep):
        keep &= ~replaceable(*packed.rows, packed.tops, packed.budget)
    root_grain = packed.root_grain or grain(
        packed.unit, packed.level, packed.table_start, packed.table, len(packed.tops)
    )
    room = np.full(int(packed.group.max(initial=0)) + 1, packed.group_cap)
    everything = Core(
        packed.cost,
        packed.group,
        np.zeros(1, np.int64),
        room,
        packed.row_start,
        packed.unit,
        packed.level,
        packed.table_start,
        packed.table,
        packed.tops,
        slack,
        packed.group_cap,
        root_grain,
        scale,
    )
    # What is left out at the root is left out by the checker too, from the same rule, so the proof
    # need not mention it.
    stay = np.nonzero(keep)[0]
    core, units, _ = compress(everything, stay, np.zeros(len(packed.tops), np.int64), room)
    return OpenProblem(core, stay, units, (), 0, packed.budget)


@dataclass(frozen=True, slots=True)
class LargeSolution:
    """The outcome of a large solve, in the packed problem's numbers."""

    value: int
    chosen: tuple[int, ...]
    closed: bool
    bound: int
    nodes: int
    tape: tuple[int, ...]
    layouts: tuple[Layout, ...]
    root_bound: float
    core_size: int
    fineness: int = COARSE

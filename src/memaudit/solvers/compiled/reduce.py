"""Shrinking a problem without changing its optimum."""

from typing import Any

import numpy as np
from numba import njit

from memaudit.solvers import small
from memaudit.solvers.compiled.types import Core, Ints

useful: Any = njit(cache=True)(small.useful)
grain: Any = njit(cache=True)(small.grain)


def compress(core: Core, stay: Ints, base: Ints, room: Ints) -> tuple[Core, Ints, Ints]:
    """The core left when only `stay` is open, the units stand at `base` and groups have `room`.

    Values count from there on. Also returns the units and the row entries that stay.
    """
    lengths = np.diff(core.row_start)[stay]
    starts = _starts(lengths)
    entries = np.repeat(core.row_start[stay] - starts[:-1], lengths) + np.arange(starts[-1])
    entries = entries[base[core.unit[entries]] < core.top[core.unit[entries]]]
    row_start = np.zeros(len(stay) + 1, np.int64)
    owner = np.searchsorted(core.row_start, entries, side="right") - 1
    place = np.full(core.cost.shape[0], -1, np.int64)
    place[stay] = np.arange(len(stay))
    np.cumsum(np.bincount(place[owner], minlength=len(stay)), out=row_start[1:])
    mark = np.zeros(core.top.shape[0], np.int64)
    mark[core.unit[entries]] = 1
    units = np.nonzero(mark)[0]
    mark[units] = np.arange(len(units))
    owners = core.group[stay]
    first = np.ones(len(stay), np.bool_)
    first[1:] = owners[1:] != owners[:-1]
    sizes = core.top[units] - base[units] + 1
    table_start = _starts(sizes)
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


def _starts(lengths: Ints) -> Ints:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts

"""The arrays the kernels share: named tuples for Python, and sealed structs for the kernels.

A kernel that took the tuples themselves would have hundreds of scalar arguments and take seconds
to compile; a sealed struct is one pointer to the same arrays.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.core.extending import register_jitable
from numba.experimental import structref
from numpy.typing import NDArray

from memaudit.kernel.solvers.compiled.kernel_cache import drop_stale

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Edges = NDArray[np.int32]

FREE, KEPT, BANNED = 0, 1, 2
"""What a search node has decided about a candidate."""

NEVER = 1 << 60


class Core(NamedTuple):
    """The part of a problem still open: candidates sorted by group, rows sorted by unit.

    `table[table_start[r] + z]` is the value of unit r at level z, `top[r]` its last level;
    `slack[r]` makes up for upward rounding where h is irrational. Every store's value is a
    multiple of `grain`. A group may keep `room` more candidates. Multipliers are integers in
    units of 1/scale.
    """

    cost: Ints
    group: Ints
    group_start: Ints
    room: Ints
    row_start: Ints
    unit: Ints
    level: Ints
    table_start: Ints
    table: Ints
    top: Ints
    slack: Ints
    cap: int
    grain: int
    scale: int


class Layout(NamedTuple):
    """How the units are split into blocks, and the prices that link the blocks.

    A *pair* is a candidate of a linking group in one block it touches; the block buys it at the
    pair's price. With `dense` every unit is its own block and the pairs are the rows' entries.
    Otherwise each block is a layered graph: a layer is a group, a node the open units' levels
    so far, an edge an option of that group (nothing, or one candidate).
    """

    dense: bool
    inside: Flags
    pair_start: Ints
    pair_block: Ints
    pair_ceiling: Ints
    unit_block: Ints
    entry_owner: Ints
    option_candidate: Ints
    option_pair: Ints
    layer_option: Ints
    layer_group: Ints
    layer_edge: Ints
    block_layer: Ints
    block_node: Ints
    edge_source: Edges
    edge_target: Edges
    edge_option: Edges
    edge_gain: Ints


class Work(NamedTuple):
    """Scratch arrays of the bound, reused from evaluation to evaluation."""

    counts: Ints  # [active candidates, length of a dense row]
    active: Ints  # free candidates, by group
    base: Ints  # per unit, the level the kept candidates give
    room: Ints  # per group, how many candidates it may still keep
    profit: Ints  # per candidate, what it earns on the group side
    picked: Floats  # per candidate, how much of it the group side takes
    share: Floats  # per candidate, a running average of that: about the relaxation's x
    bought: Floats  # per pair, 1 where the block buys
    best: Ints  # per group, its candidate inside a block's best path, or -1
    loss_in: Ints  # per candidate, fall of the bound when it is forced in
    loss_out: Ints  # per candidate, fall of the bound when it is forced out
    live_start: Ints  # dense: per unit, its live entries
    live_entry: Ints
    live_step: Ints  # dense: per live entry, the levels it adds
    live_ceiling: Ints  # dense: per live entry, the most it can be worth
    live_end: Ints  # dense: per live entry, the end of its layer
    price: Ints  # dense: rows of cheapest prices by layer and level
    worth: Ints  # dense: rows of best values from a layer and level on
    layer_at: Ints
    offer_price: Ints
    offer_step: Ints
    row: Ints  # dense: one row, worked on in place, after zeros for what is below level 0
    tail: Ints
    node: Ints  # graph: best value from the block's start to each node
    back: Ints  # graph: best value from each node to the block's end
    via: Ints  # graph: best edge into each node
    option_price: Ints
    through: Ints  # graph: best value through each option


class Tableau(NamedTuple):
    """A linear programme and its basis (simplex.py), and where its rows come from (hull.py).

    Variables are x of the candidates, y of the units, then the slacks of the rows by name.
    """

    counts: Ints  # [rows, names given to rows, pivots]
    cells: Floats
    reduced: Floats  # per column
    beta: Floats  # per row, the value of its basic variable
    basic: Ints  # per row
    nonbasic: Ints  # per column
    place: Ints  # per variable, its column, or -1 - its row
    low: Floats
    high: Floats
    at_high: Flags  # per variable, the bound at which it is nonbasic
    nonzero: Ints  # scratch
    weight: Floats  # per row
    cut_start: Ints  # per name, its entries
    cut_entry: Ints
    cut_gain: Floats
    owner: Ints  # per entry of the core, its candidate
    unit_start: Ints  # per unit, its entries
    unit_entry: Ints
    stop: Ints  # another thread ends a run by setting it
    candidates: int
    columns: int


@structref.register
class _Sealed(types.StructRef):
    """The kernels' view of one of the tuples above."""

    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class Handle(structref.StructRefProxy):
    """What Python holds of a sealed struct: nothing but the pointer."""


structref.define_boxing(_Sealed, Handle)
_new: Any = structref.new

# C-contiguous arrays only: a kernel compiled for any layout is slower, and each layout that comes
# along would be compiled anew.
_INTS, _EDGES = types.int64[::1], types.int32[::1]
_KINDS = {
    "cap": types.int64,
    "grain": types.int64,
    "scale": types.int64,
    "dense": types.boolean,
    "inside": types.boolean[::1],
    "picked": types.float64[::1],
    "share": types.float64[::1],
    "bought": types.float64[::1],
    "cells": types.float64[:, ::1],
    "reduced": types.float64[::1],
    "beta": types.float64[::1],
    "low": types.float64[::1],
    "high": types.float64[::1],
    "weight": types.float64[::1],
    "cut_gain": types.float64[::1],
    "at_high": types.boolean[::1],
    "candidates": types.int64,
    "columns": types.int64,
    "edge_source": _EDGES,
    "edge_target": _EDGES,
    "edge_option": _EDGES,
}
_core_type, _layout_type, _work_type, _tableau_type = (
    _Sealed([(name, _KINDS.get(name, _INTS)) for name in tuple_._fields])
    for tuple_ in (Core, Layout, Work, Tableau)
)


@njit(cache=True)
def _seal_core(a, b, c, d, e, f, g, h, i, j, k, cap, grain, scale):  # type: ignore[no-untyped-def]
    core = _new(_core_type)
    core.cost, core.group, core.group_start, core.room = a, b, c, d
    core.row_start, core.unit, core.level, core.table_start = e, f, g, h
    core.table, core.top, core.slack = i, j, k
    core.cap, core.grain, core.scale = cap, grain, scale
    return core


@njit(cache=True)
def _seal_layout(dense, a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r):  # type: ignore[no-untyped-def]
    layout = _new(_layout_type)
    layout.dense, layout.inside, layout.pair_start, layout.pair_block = dense, a, b, c
    layout.pair_ceiling, layout.unit_block, layout.entry_owner = d, e, f
    layout.option_candidate, layout.option_pair, layout.layer_option = g, h, i
    layout.layer_group, layout.layer_edge, layout.block_layer, layout.block_node = j, k, m, n
    layout.edge_source, layout.edge_target, layout.edge_option, layout.edge_gain = o, p, q, r
    return layout


@njit(cache=True)
def _seal_work(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u, v, w, x, y, z, *rest):  # type: ignore[no-untyped-def]
    work = _new(_work_type)
    work.counts, work.active, work.base, work.room, work.profit = a, b, c, d, e
    work.picked, work.share, work.bought, work.best = f, g, h, i
    work.loss_in, work.loss_out, work.live_start, work.live_entry = j, k, m, n
    work.live_step, work.live_ceiling, work.live_end, work.price, work.worth = o, p, q, r, s
    work.layer_at, work.offer_price, work.offer_step, work.row, work.tail = t, u, v, w, x
    work.node, work.back = y, z
    work.via, work.option_price, work.through = rest
    return work


@njit(cache=True)
def _seal_tableau(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, stop, candidates, columns):  # type: ignore[no-untyped-def]
    lp = _new(_tableau_type)
    lp.counts, lp.cells, lp.reduced, lp.beta, lp.basic, lp.nonbasic = a, b, c, d, e, f
    lp.place, lp.low, lp.high, lp.at_high, lp.nonzero, lp.weight = g, h, i, j, k, m
    lp.cut_start, lp.cut_entry, lp.cut_gain, lp.owner = n, o, p, q
    lp.unit_start, lp.unit_entry, lp.stop = r, s, stop
    lp.candidates, lp.columns = candidates, columns
    return lp


CACHE = Path(_seal_core.stats.cache_path or ".")
drop_stale(CACHE)  # before any kernel is loaded


def seal(arrays: Core | Layout | Work | Tableau) -> Any:
    """The kernels' handle of a tuple; it shares the arrays."""
    if isinstance(arrays, Core):
        return _seal_core(*arrays)
    if isinstance(arrays, Layout):
        return _seal_layout(*arrays)
    if isinstance(arrays, Tableau):
        return _seal_tableau(*arrays)
    return _seal_work(*arrays)


@register_jitable
def copy_into(target: Ints, source: Ints) -> None:
    """target[:] = source, without numba's costly shape errors."""
    for i in range(source.shape[0]):
        target[i] = source[i]

"""The arrays the kernels share, as named tuples: numba passes them through unchanged."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

FREE, KEPT, BANNED = 0, 1, 2
"""What a search node has decided about a candidate."""


class Core(NamedTuple):
    """The part of a problem still open: candidates sorted by group, rows sorted by unit.

    `table[table_start[r] + z]` is the value of unit r at level z, `top[r]` its last level;
    `slack[r]` makes up for upward rounding where h is irrational. Every store's value is a
    multiple of `grain`. A group may keep `room` more candidates. Multipliers are integers in units of 1/scale.
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
    unit_start: Ints
    unit_entry: Ints
    entry_owner: Ints
    option_candidate: Ints
    option_pair: Ints
    option_layer: Ints
    layer_option: Ints
    layer_group: Ints
    layer_edge: Ints
    block_layer: Ints
    block_node: Ints
    edge_source: Ints
    edge_target: Ints
    edge_option: Ints
    edge_gain: Ints

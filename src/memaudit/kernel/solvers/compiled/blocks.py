"""Splitting the units into blocks and unrolling each block into a layered graph of its states."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from memaudit.kernel.solvers.compiled.types import Core, Edges, Flags, Ints, copy_into

LOCAL = 8
"""Groups touching fewer units than this give the units their place along the stream."""

MOST_LAYER_NODES = 2000
MOST_BITS = 9.0
"""How many states, as a power of two, the groups spanning one place may make together."""


@njit(cache=True)
def touched_units(core: Core) -> tuple[Ints, Ints]:
    """Per group, the distinct units its candidates cover, as a CSR list."""
    groups = core.group_start.shape[0] - 1
    mark = np.full(core.top.shape[0], -1, np.int64)
    start = np.zeros(groups + 1, np.int64)
    units = np.empty(core.unit.shape[0], np.int64)
    used = 0
    for group in range(groups):
        for u in range(core.group_start[group], core.group_start[group + 1]):
            for entry in range(core.row_start[u], core.row_start[u + 1]):
                r = core.unit[entry]
                if mark[r] != group:
                    mark[r] = group
                    units[used] = r
                    used += 1
        start[group + 1] = used
    return start, units[:used].copy()


@njit(cache=True)
def _find(parent: Ints, r: int) -> int:
    while parent[r] != r:
        parent[r] = parent[parent[r]]
        r = parent[r]
    return r


def places(touch_start: Ints, touch: Ints, units: int) -> Ints:
    """Each unit's place along the stream: the order in which groups first mention it."""
    sizes = np.diff(touch_start)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    late = np.repeat(np.where(sizes < LOCAL, 0, len(sizes)), sizes)
    first = np.full(units, 2 * len(sizes), np.int64)
    np.minimum.at(first, touch, owner + late)
    place = np.empty(units, np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(units)
    return place


@njit(cache=True)
def cluster(
    core: Core,
    touch_start: Ints,
    touch: Ints,
    low: Ints,
    high: Ints,
    order: Ints,
    most_edges: int,
) -> tuple[Ints, Flags]:
    """Blocks of units, and which groups lie inside one block.

    Groups are taken in the given order, those that span few places (`low` to `high`) first. A
    group goes inside as long as the graph's size,
    estimated from the choices pending at every place it spans, stays within `most_edges`; a
    group that stays outside links the blocks it touches.
    """
    groups, units = core.group_start.shape[0] - 1, core.top.shape[0]
    parent = np.arange(units)
    states = np.ones(units)
    most_states = 2.0**MOST_BITS
    per_place = (core.cost.shape[0] + 2 * groups) / units
    estimate = per_place * units
    inside = np.zeros(groups, np.bool_)
    for turn in range(groups):
        group = order[turn]
        options = core.group_start[group + 1] - core.group_start[group] + 1.0
        extra, peak = 0.0, 0.0
        for at in range(low[group], high[group]):
            extra += states[at] * (options - 1.0)
            peak = max(peak, states[at] * options)
        extra *= per_place
        if high[group] - low[group] > 1 and (peak > most_states or estimate + extra > most_edges):
            continue
        estimate += extra
        for at in range(low[group], high[group]):
            states[at] *= options
        inside[group] = True
        root = _find(parent, touch[touch_start[group]])
        for at in range(touch_start[group] + 1, touch_start[group + 1]):
            parent[_find(parent, touch[at])] = root
    number = np.full(units, -1, np.int64)
    block = np.empty(units, np.int64)
    blocks = 0
    for r in range(units):
        root = _find(parent, r)
        if number[root] < 0:
            number[root] = blocks
            blocks += 1
        block[r] = number[root]
    return block, inside


def order_layers(touch_start: Ints, touch: Ints, place: Ints, block: Ints) -> tuple[Ints, Ints]:
    """Per block, the groups that touch it by their first place in it, as a CSR list."""
    groups = len(touch_start) - 1
    owner = np.repeat(np.arange(groups), np.diff(touch_start))
    order = np.lexsort((place[touch], owner, block[touch]))
    owner, blocks, first = owner[order], block[touch][order], place[touch][order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (owner[1:] != owner[:-1]) | (blocks[1:] != blocks[:-1])
    owner, blocks, first = owner[new], blocks[new], first[new]
    order = np.lexsort((owner, first, blocks))
    start = np.zeros(int(block.max()) + 2, np.int64)
    np.cumsum(np.bincount(blocks), out=start[1:])
    return start, owner[order]


@njit(cache=True)
def _grown(array: NDArray[Any]) -> NDArray[Any]:
    wider = np.empty(2 * array.shape[0], array.dtype)
    copy_into(wider, array)
    return wider


@njit(cache=True)
def unroll(
    core: Core,
    block: Ints,
    block_layer: Ints,
    layer_group: Ints,
    pair_start: Ints,
    pair_block: Ints,
    most_edges: int,
) -> tuple[bool, Ints, Ints, Ints, Ints, Ints, Edges, Edges, Edges, Ints]:
    """The layered graph of every block; False when it would grow beyond the limits."""
    units, layers = core.top.shape[0], layer_group.shape[0]
    blocks = block_layer.shape[0] - 1
    options = 0
    for layer in range(layers):
        group = layer_group[layer]
        options += core.group_start[group + 1] - core.group_start[group] + 1
    option_candidate = np.empty(options, np.int64)
    option_pair = np.full(options, -1, np.int64)
    layer_option = np.zeros(layers + 1, np.int64)
    layer_edge = np.zeros(layers + 1, np.int64)
    block_node = np.zeros(blocks + 1, np.int64)
    capacity = 1024 + 8 * options
    source = np.empty(capacity, np.int32)
    target = np.empty(capacity, np.int32)
    option = np.empty(capacity, np.int32)
    gain = np.empty(capacity, np.int64)
    local = np.full(units, -1, np.int64)
    members = np.empty(units, np.int64)
    last = np.empty(units, np.int64)
    shuffle = np.empty(units, np.int64)
    seed = 88172645463325252
    for r in range(units):
        seed ^= seed << 13
        seed ^= seed >> 7
        seed ^= seed << 17
        shuffle[r] = seed | 1
    states = np.empty((MOST_LAYER_NODES, 64), np.int64)
    following = np.empty((MOST_LAYER_NODES, 64), np.int64)
    slots = np.empty(8192, np.int64)
    stamp = np.zeros(8192, np.int64)
    epoch = 0
    edges = 0
    nodes = 0
    filled = 0
    empty = np.empty(0, np.int64)
    none = source[:0].copy()
    failed = (False, empty, empty, empty, empty, empty, none, none, none, empty)
    for b in range(blocks):
        width = 0
        for layer in range(block_layer[b], block_layer[b + 1]):
            group = layer_group[layer]
            for u in range(core.group_start[group], core.group_start[group + 1]):
                for entry in range(core.row_start[u], core.row_start[u + 1]):
                    r = core.unit[entry]
                    if block[r] == b:
                        if local[r] < 0:
                            local[r] = width
                            members[width] = r
                            width += 1
                        last[r] = layer
        if width > states.shape[1]:
            states = np.empty((MOST_LAYER_NODES, 2 * width), np.int64)
            following = np.empty((MOST_LAYER_NODES, 2 * width), np.int64)
        count = 1
        for i in range(width):
            states[0, i] = 0
        block_node[b] = nodes
        for layer in range(block_layer[b], block_layer[b + 1]):
            group = layer_group[layer]
            layer_option[layer] = filled
            option_candidate[filled] = -1
            filled += 1
            for u in range(core.group_start[group], core.group_start[group + 1]):
                touches = False
                for entry in range(core.row_start[u], core.row_start[u + 1]):
                    if block[core.unit[entry]] == b:
                        touches = True
                        break
                if not touches:
                    continue
                option_candidate[filled] = u
                for pair in range(pair_start[u], pair_start[u + 1]):
                    if pair_block[pair] == b:
                        option_pair[filled] = pair
                filled += 1
            layer_edge[layer] = edges
            epoch += 1
            fresh = 0
            if edges + count * (filled - layer_option[layer]) > most_edges:
                return failed
            while edges + count * (filled - layer_option[layer]) > source.shape[0]:
                source, target = _grown(source), _grown(target)
                option, gain = _grown(option), _grown(gain)
            for node in range(count):
                for o in range(layer_option[layer], filled):
                    if fresh == MOST_LAYER_NODES:
                        return failed
                    for i in range(width):
                        following[fresh, i] = states[node, i]
                    won = 0
                    u = option_candidate[o]
                    if u >= 0:
                        for entry in range(core.row_start[u], core.row_start[u + 1]):
                            r = core.unit[entry]
                            if block[r] == b:
                                z = following[fresh, local[r]]
                                new = min(core.top[r], z + core.level[entry])
                                base = core.table_start[r]
                                won += core.table[base + new] - core.table[base + z]
                                following[fresh, local[r]] = new
                    key = 0
                    for i in range(width):
                        if last[members[i]] <= layer:
                            following[fresh, i] = 0
                        key += following[fresh, i] * shuffle[members[i]]
                    key ^= key >> 29
                    slot = key & 8191
                    match = -1
                    while stamp[slot] == epoch:
                        other = slots[slot]
                        same = True
                        for i in range(width):
                            if following[other, i] != following[fresh, i]:
                                same = False
                                break
                        if same:
                            match = other
                            break
                        slot = (slot + 1) & 8191
                    if match < 0:
                        match = fresh
                        stamp[slot] = epoch
                        slots[slot] = fresh
                        fresh += 1
                    source[edges] = nodes + node
                    target[edges] = nodes + count + match
                    option[edges] = o
                    gain[edges] = won
                    edges += 1
            nodes += count
            count = fresh
            states, following = following, states
        nodes += count
        for i in range(width):
            local[members[i]] = -1
    layer_option[layers] = filled
    layer_edge[layers] = edges
    block_node[blocks] = nodes
    return (
        True,
        option_candidate[:filled].copy(),
        option_pair[:filled].copy(),
        layer_option,
        layer_edge,
        block_node,
        source[:edges].copy(),
        target[:edges].copy(),
        option[:edges].copy(),
        gain[:edges].copy(),
    )

"""Splitting the units into blocks and unrolling each block into a layered graph of its states."""

import numpy as np
from numba import njit

from memaudit.solvers.compiled.types import Core, Flags, Ints

HUB = 8
"""A group touching this many units is decided first in its block: everything else hangs on it."""

MOST_HUB_STATES = 64
MOST_LAYER_NODES = 2000


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


@njit(cache=True)
def cluster(
    core: Core, touch_start: Ints, touch: Ints, limited: bool
) -> tuple[Ints, Flags, bool]:
    """Blocks of units, which groups lie inside one block, and whether hub states stay few.

    Unlimited, blocks are the connected components. Limited, a group that would join two blocks
    with hubs, or multiply one block's hub states too far, stays outside and links the blocks.
    """
    groups, units = core.group_start.shape[0] - 1, core.top.shape[0]
    parent = np.arange(units)
    states = np.ones(units, np.int64)
    inside = np.zeros(groups, np.bool_)
    few = True
    size = touch_start[1:] - touch_start[:-1]
    for group in np.argsort(-size, kind="mergesort"):
        first, last = touch_start[group], touch_start[group + 1]
        product, hubs = 1, 0
        if size[group] >= HUB:
            product = core.group_start[group + 1] - core.group_start[group] + 1
        for at in range(first, last):
            root = _find(parent, touch[at])
            new = True
            for before in range(first, at):
                if _find(parent, touch[before]) == root:
                    new = False
                    break
            if new and states[root] > 1:
                hubs += 1
                product = min(product * states[root], MOST_HUB_STATES + 1)
        if limited and (hubs >= 2 or product > MOST_HUB_STATES):
            continue
        inside[group] = True
        few = few and product <= MOST_HUB_STATES
        root = _find(parent, touch[first])
        for at in range(first + 1, last):
            parent[_find(parent, touch[at])] = root
        states[root] = product
    number = np.full(units, -1, np.int64)
    block = np.empty(units, np.int64)
    blocks = 0
    for r in range(units):
        root = _find(parent, r)
        if number[root] < 0:
            number[root] = blocks
            blocks += 1
        block[r] = number[root]
    return block, inside, few


@njit(cache=True)
def order_layers(
    core: Core, touch_start: Ints, touch: Ints, block: Ints, inside: Flags
) -> tuple[Ints, Ints]:
    """Per block, the groups that touch it in the order its graph decides them, as a CSR list."""
    groups, units = core.group_start.shape[0] - 1, core.top.shape[0]
    blocks = block.max() + 1
    place = np.full(units, groups, np.int64)
    for group in range(groups):
        if touch_start[group + 1] - touch_start[group] < HUB:
            for at in range(touch_start[group], touch_start[group + 1]):
                place[touch[at]] = min(place[touch[at]], group)
    layer_block = np.empty(touch.shape[0], np.int64)
    layer_group = np.empty(touch.shape[0], np.int64)
    layer_key = np.empty(touch.shape[0], np.int64)
    used = 0
    for group in range(groups):
        size = touch_start[group + 1] - touch_start[group]
        begin = used
        for at in range(touch_start[group], touch_start[group + 1]):
            r = touch[at]
            slot = begin
            while slot < used and layer_block[slot] != block[r]:
                slot += 1
            if slot == used:
                layer_block[used] = block[r]
                layer_group[used] = group
                layer_key[used] = groups + 1
                used += 1
            layer_key[slot] = min(layer_key[slot], place[r])
        if inside[group] and size >= HUB:
            layer_key[begin] = -size
    spread = 2 * groups + units + 4
    key = layer_block[:used] * spread + layer_key[:used] + units + 1
    order = np.argsort(key, kind="mergesort")
    start = np.zeros(blocks + 1, np.int64)
    for slot in range(used):
        start[layer_block[slot] + 1] += 1
    return np.cumsum(start), layer_group[:used][order]


@njit(cache=True)
def _grown(array: Ints) -> Ints:
    wider = np.empty(2 * array.shape[0], array.dtype)
    wider[: array.shape[0]] = array
    return wider


@njit(cache=True)
def unroll(
    core: Core, block: Ints, inside: Flags, block_layer: Ints, layer_group: Ints,
    pair_start: Ints, pair_block: Ints, most_edges: int,
) -> tuple[bool, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]:
    """The layered graph of every block; False when it would grow beyond the limits."""
    units, layers = core.top.shape[0], layer_group.shape[0]
    blocks = block_layer.shape[0] - 1
    options = 0
    for layer in range(layers):
        group = layer_group[layer]
        options += core.group_start[group + 1] - core.group_start[group] + 1
    option_candidate = np.empty(options, np.int64)
    option_pair = np.full(options, -1, np.int64)
    option_layer = np.empty(options, np.int64)
    layer_option = np.zeros(layers + 1, np.int64)
    layer_edge = np.zeros(layers + 1, np.int64)
    block_node = np.zeros(blocks + 1, np.int64)
    capacity = 1024 + 8 * options
    source = np.empty(capacity, np.int64)
    target = np.empty(capacity, np.int64)
    option = np.empty(capacity, np.int64)
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
    here = np.zeros((MOST_LAYER_NODES, 64), np.int64)
    there = np.zeros((MOST_LAYER_NODES, 64), np.int64)
    slots = np.full(8192, -1, np.int64)
    stamp = np.zeros(8192, np.int64)
    epoch = 0
    edges = 0
    nodes = 0
    filled = 0
    empty = np.empty(0, np.int64)
    failed = (False, empty, empty, empty, empty, empty, empty, empty, empty, empty, empty)
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
        if width > here.shape[1]:
            here = np.zeros((MOST_LAYER_NODES, 2 * width), np.int64)
            there = np.zeros((MOST_LAYER_NODES, 2 * width), np.int64)
        count = 1
        here[0, :width] = 0
        block_node[b] = nodes
        for layer in range(block_layer[b], block_layer[b + 1]):
            group = layer_group[layer]
            layer_option[layer] = filled
            option_candidate[filled] = -1
            option_layer[filled] = layer
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
                option_layer[filled] = layer
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
                        there[fresh, i] = here[node, i]
                    won = 0
                    u = option_candidate[o]
                    if u >= 0:
                        for entry in range(core.row_start[u], core.row_start[u + 1]):
                            r = core.unit[entry]
                            if block[r] == b:
                                z = there[fresh, local[r]]
                                new = min(core.top[r], z + core.level[entry])
                                base = core.table_start[r]
                                won += core.table[base + new] - core.table[base + z]
                                there[fresh, local[r]] = new
                    key = 0
                    for i in range(width):
                        if last[members[i]] <= layer:
                            there[fresh, i] = 0
                        key += there[fresh, i] * shuffle[members[i]]
                    key ^= key >> 29
                    slot = key & 8191
                    found = -1
                    while stamp[slot] == epoch:
                        other = slots[slot]
                        same = True
                        for i in range(width):
                            if there[other, i] != there[fresh, i]:
                                same = False
                                break
                        if same:
                            found = other
                            break
                        slot = (slot + 1) & 8191
                    if found < 0:
                        found = fresh
                        stamp[slot] = epoch
                        slots[slot] = fresh
                        fresh += 1
                    source[edges] = nodes + node
                    target[edges] = nodes + count + found
                    option[edges] = o
                    gain[edges] = won
                    edges += 1
            nodes += count
            count = fresh
            here, there = there, here
        nodes += count
        for i in range(width):
            local[members[i]] = -1
    layer_option[layers] = filled
    layer_edge[layers] = edges
    block_node[blocks] = nodes
    return (
        True, option_candidate[:filled].copy(), option_pair[:filled].copy(),
        option_layer[:filled].copy(), layer_option, layer_edge, block_node,
        source[:edges].copy(), target[:edges].copy(), option[:edges].copy(), gain[:edges].copy(),
    )

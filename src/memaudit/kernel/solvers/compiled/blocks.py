"""Layouts: graphs of blocks of units where they stay small, else one block for each unit.

Units are split into blocks by joining the units of a group, the groups that span least first, and
each block is unrolled into a layered graph of its states.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from memaudit.kernel.solvers.compiled.types import Core, Edges, Flags, Ints, Layout, copy_into, seal
from memaudit.kernel.solvers.packed import starts_of

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
        # Halving the path keeps trees flat without a second pass or ranks.
        parent[r] = parent[parent[r]]
        r = parent[r]
    return r


def places(touch_start: Ints, touch: Ints, units: int) -> Ints:
    """Each unit's place along the stream: the order in which groups first mention it."""
    sizes = np.diff(touch_start)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    # Groups that touch many units (summaries, profiles) say little about where a unit is, so they
    # count only for units that nobody else mentions.
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
    # Options (with that of keeping nothing) that a unit's place sees on average.
    per_place = (core.cost.shape[0] + 2 * groups) / units
    estimate = per_place * units
    inside = np.zeros(groups, np.bool_)
    for turn in range(groups):
        group = order[turn]
        options = core.group_start[group + 1] - core.group_start[group] + 1.0
        extra, peak = 0.0, 0.0
        for at in range(low[group], high[group]):
            # Between a group's first and its last place its choice is pending, so every state there
            # is multiplied by its options.
            extra += states[at] * (options - 1.0)
            peak = max(peak, states[at] * options)
        extra *= per_place
        # A group at one place makes no state pending and is always inside.
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
    # Groups in the order in which they first touch the block: a unit opens late and closes early,
    # and only open units tell states apart.
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
    # Random odd factors make a sum of levels a good hash of a state; a fixed seed, so the graph is
    # the same everywhere.
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
            # `last`: after that layer a unit's level is of no more use, and states that differ in
            # it alone become one.
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
                # Candidates of a group that touches several blocks: only those that touch this one.
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
            # The estimate of `cluster` may be wrong: the graph is given up, and the next try is
            # coarser.
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
                        # The new state is written to the first free row and given up if an equal
                        # one is there already.
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
                    # Open addressing; a stamp by layer empties the table without touching it. At
                    # most 2,000 of 8,192 slots are taken, so runs stay short.
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


EDGES_AT_LEAST = 5_000
EDGES_PER_CANDIDATE = 20
"""How large, in all, the graphs of a core may grow by the estimate."""

LEAST_INSIDE = 0.5
"""With fewer groups than this inside blocks, graphs do not pay."""

_NONE = np.empty(0, np.int64)
_NO_EDGES = np.empty(0, np.int32)
_NO_BLOCKS = Layout._make((False, np.empty(0, np.bool_), *[_NONE] * 12, *[_NO_EDGES] * 3, _NONE))


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout with the block of each unit and, per row entry, its pair (-1 inside a block)."""

    layout: Layout
    block: Ints
    entry_pair: Ints

    def break_even(self, core: Core, mu: int) -> Ints:
        """Prices at which every linking candidate just earns its rent mu * cost."""
        ceiling = self.layout.pair_ceiling
        owner = np.repeat(np.arange(core.cost.shape[0]), np.diff(self.layout.pair_start))
        total = np.bincount(owner, weights=ceiling, minlength=core.cost.shape[0])
        # A candidate's rent is spread over its blocks by what it can add to each.
        rent = mu * core.cost[owner] * (ceiling / np.maximum(total[owner], 1))
        return np.minimum(ceiling, rent.astype(np.int64))

    def carry(
        self, other: "Plan", prices: Ints, core: Core, entries: Ints, old: Core, mu: int
    ) -> Ints:
        """Start prices here from another plan's prices, `entries` being the rows that stayed.

        A pair's price is spread over its row entries by what each is worth at most; candidates
        that had no price start at break-even.
        """
        at = old.table_start[old.unit]
        most = old.table[at + np.minimum(old.level, old.top[old.unit])] - old.table[at]
        linked = other.entry_pair >= 0
        share = np.zeros(len(most))
        pair = other.entry_pair[linked]
        total = np.bincount(pair, weights=most[linked], minlength=len(prices))
        share[linked] = prices[pair] * (most[linked] / np.maximum(total[pair], 1))
        fresh = self.break_even(core, mu)
        mine = self.entry_pair >= 0
        pairs = self.entry_pair[mine]
        known = np.bincount(pairs, weights=linked[entries][mine], minlength=len(fresh))
        total = np.bincount(pairs, weights=share[entries][mine], minlength=len(fresh))
        carried = np.minimum(self.layout.pair_ceiling, total.astype(np.int64))
        return np.where(known > 0, carried, fresh)


def choose_layout(core: Core, dense: bool = False, patience: int = 1) -> Plan:
    """The layout for a core; with more patience, blocks may be larger."""
    units = core.top.shape[0]
    if not dense and core.cap == 1 and units:
        sealed = seal(core)
        touch_start, touch = touched_units(sealed)
        place = places(touch_start, touch, units)
        low = np.minimum.reduceat(place[touch], touch_start[:-1])
        high = np.maximum.reduceat(place[touch], touch_start[:-1])
        order = np.argsort(high - low, kind="stable")
        budget = patience * (EDGES_AT_LEAST + EDGES_PER_CANDIDATE * core.cost.shape[0])
        # A graph that grew beyond its estimate is tried again with fewer groups inside.
        for share in (1, 4, 16):
            block, inside = cluster(sealed, touch_start, touch, low, high, order, budget // share)
            # With most groups linking, graphs cost more than single units and know hardly more.
            if inside.mean() < LEAST_INSIDE:
                break
            graph = _graph(core, touch_start, touch, place, block, inside, 2 * budget)
            if graph is not None:
                return graph
    return Plan(_dense(core), np.arange(units), np.arange(core.unit.shape[0]))


def _dense(core: Core) -> Layout:
    owner = np.repeat(np.arange(core.cost.shape[0]), np.diff(core.row_start))
    at = core.table_start[core.unit]
    level = np.minimum(core.level, core.top[core.unit])
    most = core.table[at + level] - core.table[at] + core.slack[core.unit]
    return _NO_BLOCKS._replace(
        dense=True,
        inside=np.zeros(core.group_start.shape[0] - 1, np.bool_),
        pair_start=core.row_start,
        pair_block=core.unit,
        pair_ceiling=core.scale * most,
        entry_owner=owner,
    )


def _graph(
    core: Core,
    touch_start: Ints,
    touch: Ints,
    place: Ints,
    block: Ints,
    inside: Flags,
    most_edges: int,
) -> Plan | None:
    owner = np.repeat(np.arange(core.cost.shape[0]), np.diff(core.row_start))
    links = ~inside[core.group[owner]]
    at = core.table_start[core.unit]
    most = core.table[at + np.minimum(core.level, core.top[core.unit])] - core.table[at]
    # One number for candidate and block: equal cells of a pair fall together by `unique`.
    key = owner[links] * (int(block.max()) + 1) + block[core.unit[links]]
    pairs, where = np.unique(key, return_inverse=True)
    ceiling = np.zeros(len(pairs), np.int64)
    np.add.at(ceiling, where, (most + core.slack[core.unit])[links])
    pair_owner = pairs // (int(block.max()) + 1)
    pair_block = pairs % (int(block.max()) + 1)
    pair_start = starts_of(np.bincount(pair_owner, minlength=core.cost.shape[0]))
    block_layer, layer_group = order_layers(touch_start, touch, place, block)
    (
        fits,
        option_candidate,
        option_pair,
        layer_option,
        layer_edge,
        block_node,
        source,
        target,
        option,
        gain,
    ) = unroll(seal(core), block, block_layer, layer_group, pair_start, pair_block, most_edges)
    if not fits:
        return None
    entry_pair = np.full(core.unit.shape[0], -1, np.int64)
    entry_pair[links] = where
    layout = Layout(
        dense=False,
        inside=inside,
        pair_start=pair_start,
        pair_block=pair_block,
        pair_ceiling=core.scale * ceiling,
        unit_block=block,
        entry_owner=_NONE,
        option_candidate=option_candidate,
        option_pair=option_pair,
        layer_option=layer_option,
        layer_group=layer_group,
        layer_edge=layer_edge,
        block_layer=block_layer,
        block_node=block_node,
        edge_source=source,
        edge_target=target,
        edge_option=option,
        edge_gain=gain,
    )
    return Plan(layout, block, entry_pair)

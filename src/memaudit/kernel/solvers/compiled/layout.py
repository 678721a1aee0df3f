"""Choosing a layout for a core: graphs of blocks where they stay small, else one block per unit."""

from dataclasses import dataclass

import numpy as np

from memaudit.kernel.solvers.compiled.blocks import (
    cluster,
    order_layers,
    places,
    touched_units,
    unroll,
)
from memaudit.kernel.solvers.compiled.types import Core, Flags, Ints, Layout, seal
from memaudit.kernel.solvers.packed import starts_of

EDGES_AT_LEAST = 5_000
EDGES_PER_CANDIDATE = 20
"""How large, in all, the graphs of a core may grow by the estimate."""

LEAST_INSIDE = 0.5
"""With fewer groups than this inside blocks, graphs do not pay."""

_NONE = np.empty(0, np.int64)
_NO_EDGES = np.empty(0, np.int32)


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
        for share in (1, 4, 16):
            block, inside = cluster(sealed, touch_start, touch, low, high, order, budget // share)
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
    return Layout(
        dense=True,
        inside=np.zeros(core.group_start.shape[0] - 1, np.bool_),
        pair_start=core.row_start,
        pair_block=core.unit,
        pair_ceiling=core.scale * most,
        unit_block=_NONE,
        entry_owner=owner,
        option_candidate=_NONE,
        option_pair=_NONE,
        layer_option=_NONE,
        layer_group=_NONE,
        layer_edge=_NONE,
        block_layer=_NONE,
        block_node=_NONE,
        edge_source=_NO_EDGES,
        edge_target=_NO_EDGES,
        edge_option=_NO_EDGES,
        edge_gain=_NONE,
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

"""The Lagrangian bound: linking groups sell candidates to blocks, the budget has a price mu.

For any mu >= 0 and prices pi >= 0, with `left` the budget left at a search node,

    OPT <= mu * left + sum over linking groups of their best profit sum_b pi[u, b] - mu * cost_u
                     + sum over blocks of their best value net of prices and mu * cost of what is
                       inside the block.

`Work` holds one evaluation's by-products: who picked what (for the next multipliers and for
stores) and, when asked for, how much the bound falls if a candidate is forced in or out.
"""

import numpy as np
from numba import njit

from memaudit.solvers.compiled.dense import dense_losses, dense_side, list_live
from memaudit.solvers.compiled.graph import graph_losses, graph_side
from memaudit.solvers.compiled.groups import (
    at_price,
    best_mu,
    gross_profits,
    group_losses,
    pick,
)
from memaudit.solvers.compiled.types import FREE, KEPT, Core, Ints, Layout, Work


def workspace(core: Core, layout: Layout) -> Work:
    """Fresh scratch arrays for one core and layout."""
    candidates, units, groups = len(core.cost), len(core.top), len(core.room)
    pairs, options = int(layout.pair_start[-1]), len(layout.option_candidate)
    dense = pairs if layout.dense else 0
    nodes = 0 if layout.dense else int(layout.block_node[-1])
    widest = int(core.top.max(initial=0)) + 1 if layout.dense else 1
    deepest = int(np.bincount(core.unit).max(initial=0)) + 2 if layout.dense else 1

    def ints(size: int) -> Ints:
        return np.zeros(size, np.int64)

    return Work(
        np.array([0, widest]), ints(candidates), ints(units), ints(groups), ints(candidates),
        np.zeros(candidates), np.zeros(pairs), np.full(groups, -1), ints(candidates),
        ints(candidates), ints(units + 1), ints(dense), ints(dense), ints(dense), ints(dense),
        ints(deepest * widest), ints(deepest * widest), ints(deepest + 1), ints(deepest + 1),
        ints(deepest + 1), ints(2 * widest), ints(2 * widest), ints(nodes), ints(nodes),
        ints(nodes), ints(options), ints(options),
    )  # fmt: skip


@njit(cache=True)
def enter(core: Core, layout: Layout, work: Work, status: Ints, left: int, prices: Ints) -> int:
    """Set up a search node: its active candidates and levels; returns the value already kept."""
    active, base, room = work.active, work.base, work.room
    rows, units, levels, tops = core.row_start, core.unit, core.level, core.top
    starts, table, slack = core.table_start, core.table, core.slack
    group, cost, dense, scale = core.group, core.cost, layout.dense, core.scale
    for r in range(base.shape[0]):
        base[r] = 0
    for g in range(room.shape[0]):
        room[g] = core.room[g]
    for u in range(cost.shape[0]):
        if status[u] == KEPT:
            room[group[u]] -= 1
            for entry in range(rows[u], rows[u + 1]):
                r = units[entry]
                base[r] = min(tops[r], base[r] + levels[entry])
    value = 0
    for r in range(tops.shape[0]):
        value += table[starts[r] + base[r]]
    count = 0
    for u in range(cost.shape[0]):
        if status[u] != FREE or room[group[u]] <= 0 or cost[u] > left:
            continue
        gain = 0
        for entry in range(rows[u], rows[u + 1]):
            r = units[entry]
            most = 0
            if base[r] < tops[r]:
                at = starts[r]
                high = min(tops[r], base[r] + levels[entry])
                most = table[at + high] - table[at + base[r]] + slack[r]
            gain += most
            if dense:
                prices[entry] = min(prices[entry], scale * most)
        if gain > 0:
            active[count] = u
            count += 1
    work.counts[0] = count
    if dense:
        list_live(core, layout, work)
    return value


@njit(cache=True)
def evaluate(
    core: Core,
    layout: Layout,
    work: Work,
    status: Ints,
    mu: int,
    left: int,
    value: int,
    prices: Ints,
) -> tuple[int, int, int]:
    """The bound (times scale) at a node, the mu used, and the cost its picks spend.

    Where every group links, mu is first replaced by the best one for these prices.
    """
    gross_profits(layout, work, prices)
    if layout.dense:
        mu, total = best_mu(core, layout, work, mu, left)
        _, dear, cheap = at_price(core, layout, work, mu)
        pick(core, layout, work, mu, left, dear, cheap)
        return core.scale * value + total + dense_side(core, work, prices), mu, dear
    total, dear, cheap = at_price(core, layout, work, mu)
    pick(core, layout, work, mu, left, dear, dear)
    blocks, spent = graph_side(core, layout, work, status, mu, left, prices)
    return mu * left + total + blocks, mu, spent + cheap


@njit(cache=True)
def losses(
    core: Core,
    layout: Layout,
    work: Work,
    status: Ints,
    mu: int,
    left: int,
    value: int,
    prices: Ints,
) -> int:
    """Evaluate at exactly these multipliers and fill in every active candidate's losses."""
    gross_profits(layout, work, prices)
    total, _, _ = at_price(core, layout, work, mu)
    group_losses(core, layout, work, mu)
    bound = mu * left + total
    if layout.dense:
        bound += core.scale * value + dense_side(core, work, prices)
        dense_losses(core, layout, work, prices)
    else:
        blocks, _ = graph_side(core, layout, work, status, mu, left, prices)
        graph_losses(core, layout, work, status)
        bound += blocks
    return bound

"""The Lagrangian bound: linking groups sell candidates to blocks, the budget has a price mu.

For any mu >= 0 and prices pi >= 0, with `left` the budget left at a search node,

    OPT <= mu * left + sum over linking groups of their best profit sum_b pi[u, b] - mu * cost_u
                     + sum over blocks of their best value net of prices and mu * cost of what is
                       inside the block.

`Work` holds one evaluation's by-products: who picked what (for the next multipliers and for
stores) and, when asked for, how much the bound falls if a candidate is forced in or out.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from memaudit.solvers.compiled.types import BANNED, FREE, KEPT, Core, Floats, Ints, Layout

NEVER = 1 << 60


class Work(NamedTuple):
    """Scratch arrays of the bound, reused from evaluation to evaluation."""

    active: Ints  # free candidates, by group; their number is count[0]
    count: Ints  # [active candidates, units with entries]
    base: Ints  # per unit, the level the kept candidates give
    room: Ints  # per group, how many candidates it may still keep
    profit: Ints  # per candidate, what it earns on the group side
    picked: Floats  # per candidate, how much of it the group side takes
    bought: Floats  # per pair, 1 where the block buys
    best: Ints  # per group, its candidate inside a block's best path, or -1
    loss_in: Ints  # per candidate, fall of the bound when it is forced in
    loss_out: Ints  # per candidate, fall of the bound when it is forced out
    live_start: Ints  # dense: per listed unit, its live entries
    live_entry: Ints
    live_unit: Ints
    price: Ints  # dense: rows of cheapest prices by layer and level
    worth: Ints  # dense: rows of best values from a layer and level on
    layer_at: Ints  # dense: first live entry of each layer of one unit
    node: Ints  # graph: best value from the block's start to each node
    back: Ints  # graph: best value from each node to the block's end
    via: Ints  # graph: best edge into each node
    option_price: Ints
    through: Ints  # graph: best value through each option


def workspace(core: Core, layout: Layout) -> Work:
    """Fresh scratch arrays for one core and layout."""
    candidates, units = core.cost.shape[0], core.top.shape[0]
    groups = core.group_start.shape[0] - 1
    pairs = int(layout.pair_start[-1])
    nodes = int(layout.block_node[-1]) if not layout.dense else 0
    widest = int(core.top.max()) + 1 if layout.dense else 1
    deepest = int(np.diff(layout.unit_start).max()) + 2 if layout.dense else 1
    options = layout.option_candidate.shape[0]

    def ints(size: int) -> Ints:
        return np.zeros(size, np.int64)

    return Work(
        ints(candidates), ints(2), ints(units), ints(groups), ints(candidates),
        np.zeros(candidates), np.zeros(pairs), ints(groups), ints(candidates), ints(candidates),
        ints(units + 1), ints(pairs), ints(units),
        np.zeros((deepest, widest), np.int64), np.zeros((deepest, widest), np.int64),
        ints(deepest + 1), ints(nodes), ints(nodes), ints(nodes), ints(options), ints(options),
    )  # fmt: skip


@njit(cache=True)
def enter(core: Core, layout: Layout, work: Work, status: Ints, left: int, prices: Ints) -> int:
    """Set up a search node: its active candidates and levels; returns the value already kept."""
    active, base, room = work.active, work.base, work.room
    base[:] = 0
    room[:] = core.room
    for u in range(core.cost.shape[0]):
        if status[u] == KEPT:
            room[core.group[u]] -= 1
            for entry in range(core.row_start[u], core.row_start[u + 1]):
                r = core.unit[entry]
                base[r] = min(core.top[r], base[r] + core.level[entry])
    value = 0
    for r in range(core.top.shape[0]):
        value += core.table[core.table_start[r] + base[r]]
    count = 0
    for u in range(core.cost.shape[0]):
        if status[u] != FREE or room[core.group[u]] <= 0 or core.cost[u] > left:
            continue
        gain = 0
        for entry in range(core.row_start[u], core.row_start[u + 1]):
            r = core.unit[entry]
            at = core.table_start[r]
            high = min(core.top[r], base[r] + core.level[entry])
            most = 0
            if high > base[r]:
                most = core.table[at + high] - core.table[at + base[r]] + core.slack[r]
            gain += most
            if layout.dense:
                prices[entry] = min(prices[entry], core.scale * most)
        if gain > 0:
            active[count] = u
            count += 1
    work.count[0] = count
    if layout.dense:
        _list_live(core, layout, work)
    return value


@njit(cache=True)
def _list_live(core: Core, layout: Layout, work: Work) -> None:
    """Per unit, the entries of active candidates that can still add to it."""
    start, entries = work.live_start, work.live_entry
    units = core.top.shape[0]
    start[:] = 0
    for at in range(work.count[0]):
        u = work.active[at]
        for entry in range(core.row_start[u], core.row_start[u + 1]):
            start[core.unit[entry] + 1] += 1
    for r in range(units):
        if work.base[r] >= core.top[r]:
            start[r + 1] = 0
        start[r + 1] += start[r]
    for at in range(work.count[0]):
        u = work.active[at]
        for entry in range(core.row_start[u], core.row_start[u + 1]):
            r = core.unit[entry]
            if work.base[r] < core.top[r]:
                entries[start[r]] = entry
                start[r] += 1
    for r in range(units, 0, -1):
        start[r] = start[r - 1]
    start[0] = 0


@njit(cache=True)
def group_side(
    core: Core, layout: Layout, work: Work, mu: int, prices: Ints
) -> tuple[int, int, int]:
    """Profits at the current prices; the groups' total, and the dearest and cheapest cost of it."""
    active, profit = work.active, work.profit
    total, dear, cheap = 0, 0, 0
    at, count = 0, work.count[0]
    while at < count:
        group = core.group[active[at]]
        end = at
        while end < count and core.group[active[end]] == group:
            end += 1
        if layout.inside[group]:
            for i in range(at, end):
                work.profit[active[i]] = 0
            at = end
            continue
        for i in range(at, end):
            u = active[i]
            earned = 0
            for pair in range(layout.pair_start[u], layout.pair_start[u + 1]):
                earned += prices[pair]
            profit[u] = earned
        at = end
    total, dear, cheap = _at_price(core, layout, work, mu)
    return total, dear, cheap


@njit(cache=True)
def _at_price(core: Core, layout: Layout, work: Work, mu: int) -> tuple[int, int, int]:
    """The groups' total net profit at budget price mu, from the gross profits in `work.profit`."""
    active, gross = work.active, work.profit
    total, dear, cheap = 0, 0, 0
    at, count = 0, work.count[0]
    while at < count:
        group = core.group[active[at]]
        if layout.inside[group]:
            while at < count and core.group[active[at]] == group:
                at += 1
            continue
        room = work.room[group]
        if room == 1:
            best, high, low = 0, 0, 0
            while at < count and core.group[active[at]] == group:
                u = active[at]
                net = gross[u] - mu * core.cost[u]
                if net > best:
                    best, high, low = net, core.cost[u], core.cost[u]
                elif net == best:
                    high = max(high, core.cost[u])
                    low = min(low, core.cost[u])
                at += 1
            total += best
            dear += high
            cheap += low
        else:
            begin = at
            while at < count and core.group[active[at]] == group:
                at += 1
            limit = _nth_net(core, work, begin, at, room, mu)
            for i in range(begin, at):
                u = active[i]
                net = gross[u] - mu * core.cost[u]
                if net > 0 and net > limit:
                    total += net - limit
                    dear += core.cost[u]
                    cheap += core.cost[u]
            if limit > 0:
                total += limit * room
    return total, dear, cheap


@njit(cache=True)
def _nth_net(core: Core, work: Work, begin: int, end: int, nth: int, mu: int) -> int:
    """The nth largest positive net profit among active[begin:end], or 0."""
    if end - begin < nth:
        return 0
    last = NEVER
    seen = 0
    while seen < nth:
        top, times = 0, 0
        for i in range(begin, end):
            u = work.active[i]
            net = work.profit[u] - mu * core.cost[u]
            if net < last and net > top:
                top, times = net, 1
            elif net == top and net > 0:
                times += 1
        if times == 0:
            return 0
        seen += times
        last = top
    return last


@njit(cache=True)
def best_mu(core: Core, layout: Layout, work: Work, mu: int, left: int) -> tuple[int, int]:
    """The whole mu that minimises mu * left + the groups' profit (all groups linking)."""
    low, high, step = 0, -1, max(1, mu >> 4)
    best, best_total = -1, 0
    for _ in range(64):
        total, dear, cheap = _at_price(core, layout, work, mu)
        total += mu * left
        if best < 0 or total < best_total:
            best, best_total = mu, total
        if cheap > left:
            low = mu + 1
            if high < 0:
                mu += step
                step *= 4
            else:
                mu = (low + high) >> 1
        elif dear < left:
            high = mu - 1
            if low == 0 and step < mu:
                mu -= step
                step *= 4
            else:
                mu = (low + high) >> 1
        else:
            break
        if high >= 0:
            if low > high:
                break
            mu = min(mu, high)
        mu = max(mu, low)
    return best, best_total


@njit(cache=True)
def pick(core: Core, layout: Layout, work: Work, mu: int, left: int, dear: int, cheap: int) -> None:
    """What each linking group sells; ties are mixed so that the budget is just used up."""
    active, gross, picked = work.active, work.profit, work.picked
    mix = 0.0
    if dear > cheap:
        mix = min(1.0, max(0.0, (left - cheap) / (dear - cheap)))
    at, count = 0, work.count[0]
    while at < count:
        group = core.group[active[at]]
        begin = at
        while at < count and core.group[active[at]] == group:
            picked[active[at]] = 0.0
            at += 1
        if layout.inside[group]:
            continue
        room = work.room[group]
        if room == 1:
            best, high, low = 0, -1, -1
            for i in range(begin, at):
                u = active[i]
                net = gross[u] - mu * core.cost[u]
                if net > best:
                    best, high, low = net, u, u
                elif net == best:
                    if high < 0 or core.cost[u] > core.cost[high]:
                        high = u
                    if low >= 0 and core.cost[u] < core.cost[low]:
                        low = u
            if high >= 0:
                picked[high] += mix
            if low >= 0:
                picked[low] += 1.0 - mix
        else:
            limit = _nth_net(core, work, begin, at, room, mu)
            taken = 0
            for i in range(begin, at):
                u = active[i]
                net = gross[u] - mu * core.cost[u]
                if net > 0 and net >= limit and taken < room:
                    picked[u] = 1.0
                    taken += 1


@njit(cache=True)
def _next_layer(core: Core, layout: Layout, work: Work, at: int, end: int) -> int:
    """The end of the run of live entries that exclude each other (one group at cap 1)."""
    if core.cap > 1:
        return at + 1
    group = core.group[layout.entry_owner[work.live_entry[at]]]
    at += 1
    while at < end and core.group[layout.entry_owner[work.live_entry[at]]] == group:
        at += 1
    return at


@njit(cache=True)
def dense_side(core: Core, layout: Layout, work: Work, prices: Ints) -> int:
    """Each unit buys the levels that pay: a multiple-choice DP over its coverage levels."""
    total = 0
    scale = core.scale
    cheapest = work.price
    for r in range(core.top.shape[0]):
        at, end = work.live_start[r], work.live_start[r + 1]
        if at == end:
            continue
        base = work.base[r]
        span = core.top[r] - base
        table = core.table_start[r] + base
        cheapest[0, 0] = 0
        for z in range(1, span + 1):
            cheapest[0, z] = NEVER
        layers, reach = 0, 0
        while at < end:
            stop = _next_layer(core, layout, work, at, end)
            old, new = cheapest[layers], cheapest[layers + 1]
            offered = False
            grown = reach
            for i in range(at, stop):
                entry = work.live_entry[i]
                work.bought[entry] = 0.0
                cost = prices[entry]
                step = min(core.level[entry], span)
                if cost >= scale * (core.table[table + step] - core.table[table] + core.slack[r]):
                    continue
                if not offered:
                    offered = True
                    for z in range(span + 1):
                        new[z] = old[z]
                grown = max(grown, min(span, reach + step))
                for z in range(1, step + 1):
                    new[z] = min(new[z], cost)
                for z in range(step + 1, span + 1):
                    new[z] = min(new[z], old[z - step] + cost)
            if offered:
                work.layer_at[layers] = at
                layers += 1
                work.layer_at[layers] = stop
                reach = grown
            at = stop
        best, level = 0, 0
        last = cheapest[layers]
        for z in range(1, reach + 1):
            net = scale * (core.table[table + z] - core.table[table]) - last[z]
            if net > best:
                best, level = net, z
        total += best
        layer = layers - 1
        while layer >= 0 and level > 0:
            if cheapest[layer + 1, level] != cheapest[layer, level]:
                i = work.layer_at[layer]
                while True:
                    entry = work.live_entry[i]
                    step = min(core.level[entry], span)
                    before = max(0, level - step)
                    most = core.table[table + step] - core.table[table] + core.slack[r]
                    if (
                        prices[entry] < scale * most
                        and cheapest[layer, before] + prices[entry] == cheapest[layer + 1, level]
                    ):
                        break
                    i += 1
                work.bought[entry] = 1.0
                level = before
            layer -= 1
    return total


@njit(cache=True)
def dense_losses(core: Core, layout: Layout, work: Work, prices: Ints) -> None:
    """Adds, for each live entry, how much its unit loses if it must, or must not, buy it."""
    scale = core.scale
    cheapest, worth = work.price, work.worth
    for r in range(core.top.shape[0]):
        at, end = work.live_start[r], work.live_start[r + 1]
        if at == end:
            continue
        base = work.base[r]
        span = core.top[r] - base
        table = core.table_start[r] + base
        layers = 0
        for z in range(span + 1):
            cheapest[0, z] = NEVER
        cheapest[0, 0] = 0
        work.layer_at[0] = at
        while at < end:
            stop = _next_layer(core, layout, work, at, end)
            old, new = cheapest[layers], cheapest[layers + 1]
            for z in range(span + 1):
                new[z] = old[z]
            for i in range(at, stop):
                entry = work.live_entry[i]
                step = min(core.level[entry], span)
                cost = prices[entry]
                if cost >= scale * (core.table[table + step] - core.table[table] + core.slack[r]):
                    continue
                for z in range(1, step + 1):
                    new[z] = min(new[z], cost)
                for z in range(step + 1, span + 1):
                    new[z] = min(new[z], old[z - step] + cost)
            layers += 1
            work.layer_at[layers] = stop
            at = stop
        for z in range(span + 1):
            worth[layers, z] = scale * (core.table[table + z] - core.table[table])
        for layer in range(layers - 1, -1, -1):
            later, here = worth[layer + 1], worth[layer]
            for z in range(span + 1):
                here[z] = later[z]
            for i in range(work.layer_at[layer], work.layer_at[layer + 1]):
                entry = work.live_entry[i]
                step = min(core.level[entry], span)
                cost = prices[entry]
                if cost >= scale * (core.table[table + step] - core.table[table] + core.slack[r]):
                    continue
                for z in range(span + 1):
                    here[z] = max(here[z], later[min(span, z + step)] - cost)
        best = worth[0, 0]
        for layer in range(layers):
            later, before = worth[layer + 1], cheapest[layer]
            first = -NEVER
            for z in range(span + 1):
                first = max(first, later[z] - before[z])
            second, winner = -NEVER, -1
            for i in range(work.layer_at[layer], work.layer_at[layer + 1]):
                entry = work.live_entry[i]
                step = min(core.level[entry], span)
                cost = prices[entry]
                if cost >= scale * (core.table[table + step] - core.table[table] + core.slack[r]):
                    continue
                value = -NEVER
                for z in range(span + 1):
                    value = max(value, later[min(span, z + step)] - before[z])
                value -= cost
                work.loss_in[layout.entry_owner[entry]] += best - value
                if value > first:
                    second, first, winner = first, value, layout.entry_owner[entry]
                elif value > second:
                    second = value
            if winner >= 0:
                work.loss_out[winner] += best - second


@njit(cache=True)
def graph_side(
    core: Core, layout: Layout, work: Work, status: Ints, mu: int, left: int, prices: Ints
) -> tuple[int, int]:
    """Each block's best path through its graph; the total, and the cost of what lies inside."""
    option_price, node, via = work.option_price, work.node, work.via
    for o in range(option_price.shape[0]):
        u = layout.option_candidate[o]
        group = layout.layer_group[layout.option_layer[o]]
        if u < 0:
            option_price[o] = 0 if work.room[group] == 1 else NEVER
        elif status[u] == KEPT:
            option_price[o] = 0
        elif status[u] == BANNED or work.room[group] == 0 or core.cost[u] > left:
            option_price[o] = NEVER
        elif layout.option_pair[o] >= 0:
            option_price[o] = prices[layout.option_pair[o]]
        else:
            option_price[o] = mu * core.cost[u]
    # A group with a kept candidate that does not touch this block must take nothing here.
    for layer in range(layout.layer_group.shape[0]):
        if work.room[layout.layer_group[layer]] == 0:
            some = False
            for o in range(layout.layer_option[layer] + 1, layout.layer_option[layer + 1]):
                if option_price[o] == 0 and status[layout.option_candidate[o]] == KEPT:
                    some = True
            if not some:
                option_price[layout.layer_option[layer]] = 0
    node[:] = -NEVER
    work.best[:] = -1
    work.bought[:] = 0.0
    total, spent = 0, 0
    for b in range(layout.block_layer.shape[0] - 1):
        node[layout.block_node[b]] = 0
        first = layout.layer_edge[layout.block_layer[b]]
        last = layout.layer_edge[layout.block_layer[b + 1]]
        for edge in range(first, last):
            cost = option_price[layout.edge_option[edge]]
            if cost == NEVER:
                continue
            value = node[layout.edge_source[edge]] + core.scale * layout.edge_gain[edge] - cost
            if value > node[layout.edge_target[edge]]:
                node[layout.edge_target[edge]] = value
                via[layout.edge_target[edge]] = edge
        at = layout.block_node[b + 1] - 1
        total += node[at]
        while at != layout.block_node[b]:
            edge = via[at]
            o = layout.edge_option[edge]
            u = layout.option_candidate[o]
            if u >= 0 and status[u] == FREE:
                if layout.option_pair[o] >= 0:
                    work.bought[layout.option_pair[o]] = 1.0
                else:
                    work.best[core.group[u]] = u
                    spent += core.cost[u]
            at = layout.edge_source[edge]
    return total, spent


@njit(cache=True)
def _offered(core: Core, layout: Layout, work: Work, o: int) -> bool:
    """Whether an option's price is below what it can still add to its block at this node.

    The checker leaves candidates at that ceiling out of the block, so they must not count here.
    """
    pair = layout.option_pair[o]
    if pair < 0:
        return True
    u = layout.option_candidate[o]
    ceiling = 0
    for entry in range(core.row_start[u], core.row_start[u + 1]):
        r = core.unit[entry]
        if layout.unit_block[r] == layout.pair_block[pair]:
            at = core.table_start[r]
            high = min(core.top[r], work.base[r] + core.level[entry])
            if high > work.base[r]:
                ceiling += core.table[at + high] - core.table[at + work.base[r]] + core.slack[r]
    return work.option_price[o] < core.scale * ceiling


@njit(cache=True)
def graph_losses(core: Core, layout: Layout, work: Work, status: Ints) -> None:
    """Adds each option's loss, from best values before (`node`) and after (`back`) its edges."""
    node, back, through = work.node, work.back, work.through
    back[:] = -NEVER
    through[:] = -NEVER
    for b in range(layout.block_layer.shape[0] - 1):
        back[layout.block_node[b + 1] - 1] = 0
        first = layout.layer_edge[layout.block_layer[b]]
        last = layout.layer_edge[layout.block_layer[b + 1]]
        for edge in range(last - 1, first - 1, -1):
            o = layout.edge_option[edge]
            cost = work.option_price[o]
            if cost == NEVER:
                continue
            value = back[layout.edge_target[edge]] + core.scale * layout.edge_gain[edge] - cost
            source = layout.edge_source[edge]
            back[source] = max(back[source], value)
            through[o] = max(through[o], node[source] + value)
        best = node[layout.block_node[b + 1] - 1]
        for layer in range(layout.block_layer[b], layout.block_layer[b + 1]):
            top, second, winner = -NEVER, -NEVER, -1
            for o in range(layout.layer_option[layer], layout.layer_option[layer + 1]):
                u = layout.option_candidate[o]
                if u >= 0 and status[u] == FREE and through[o] > -NEVER:
                    if _offered(core, layout, work, o):
                        work.loss_in[u] += best - through[o]
                if through[o] > top:
                    top, second, winner = through[o], top, u
                elif through[o] > second:
                    second = through[o]
            if winner >= 0 and status[winner] == FREE:
                work.loss_out[winner] += best - second


@njit(cache=True)
def group_losses(core: Core, layout: Layout, work: Work, mu: int) -> None:
    """Sets each active candidate's loss on the group side."""
    active, gross = work.active, work.profit
    at, count = 0, work.count[0]
    while at < count:
        group = core.group[active[at]]
        begin = at
        while at < count and core.group[active[at]] == group:
            work.loss_in[active[at]] = 0
            work.loss_out[active[at]] = 0
            at += 1
        if layout.inside[group]:
            continue
        room = work.room[group]
        limit = _nth_net(core, work, begin, at, room, mu)
        after = _nth_net(core, work, begin, at, room + 1, mu)
        for i in range(begin, at):
            u = active[i]
            net = gross[u] - mu * core.cost[u]
            work.loss_in[u] = max(0, limit - net)
            if net > 0 and net >= limit:
                work.loss_out[u] = net - after


@njit(cache=True)
def evaluate(
    core: Core, layout: Layout, work: Work, status: Ints, mu: int, left: int, value: int,
    prices: Ints,
) -> tuple[int, int, int]:
    """The bound (times scale) at a node, the mu used, and the cost its picks spend.

    Where every group links, mu is first replaced by the best one for these prices.
    """
    group_side(core, layout, work, mu, prices)
    if layout.dense:
        mu, total = best_mu(core, layout, work, mu, left)
        _, dear, cheap = _at_price(core, layout, work, mu)
        pick(core, layout, work, mu, left, dear, cheap)
        return core.scale * value + total + dense_side(core, layout, work, prices), mu, dear
    total, dear, cheap = _at_price(core, layout, work, mu)
    pick(core, layout, work, mu, left, dear, dear)
    blocks, spent = graph_side(core, layout, work, status, mu, left, prices)
    return mu * left + total + blocks, mu, spent + cheap


@njit(cache=True)
def losses(
    core: Core, layout: Layout, work: Work, status: Ints, mu: int, left: int, value: int,
    prices: Ints,
) -> int:
    """Evaluate at exactly these multipliers and fill in every active candidate's losses."""
    group_side(core, layout, work, mu, prices)
    total, _, _ = _at_price(core, layout, work, mu)
    group_losses(core, layout, work, mu)
    bound = mu * left + total
    if layout.dense:
        bound += core.scale * value + dense_side(core, layout, work, prices)
        dense_losses(core, layout, work, prices)
    else:
        blocks, _ = graph_side(core, layout, work, status, mu, left, prices)
        graph_losses(core, layout, work, status)
        bound += blocks
    return bound

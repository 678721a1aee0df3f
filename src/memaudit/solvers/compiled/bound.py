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

from memaudit.solvers.compiled.types import (
    BANNED,
    FREE,
    KEPT,
    NEVER,
    Core,
    Ints,
    Layout,
    Work,
)  # fmt: skip


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
        _list_live(core, layout, work)
    return value


@njit(cache=True)
def _list_live(core: Core, layout: Layout, work: Work) -> None:
    """Per unit, the entries of active candidates that can still add to it, layer by layer.

    A layer is a run of entries that exclude each other: one group's at cap 1.
    """
    rows, units, base, tops = core.row_start, core.unit, work.base, core.top
    start, entries, active, count = work.live_start, work.live_entry, work.active, work.counts[0]
    steps, ceilings, ends = work.live_step, work.live_ceiling, work.live_end
    table, starts, levels, slack = core.table, core.table_start, core.level, core.slack
    owner, group, exclusive = layout.entry_owner, core.group, core.cap == 1
    for r in range(start.shape[0]):
        start[r] = 0
    for at in range(count):
        u = active[at]
        for entry in range(rows[u], rows[u + 1]):
            r = units[entry]
            if base[r] < tops[r]:
                start[r + 1] += 1
    for r in range(tops.shape[0]):
        start[r + 1] += start[r]
    for at in range(count):
        u = active[at]
        for entry in range(rows[u], rows[u + 1]):
            r = units[entry]
            if base[r] < tops[r]:
                entries[start[r]] = entry
                start[r] += 1
    for r in range(tops.shape[0], 0, -1):
        start[r] = start[r - 1]
    start[0] = 0
    for r in range(tops.shape[0]):
        at = starts[r] + base[r]
        end = start[r + 1]
        for i in range(end - 1, start[r] - 1, -1):
            entry = entries[i]
            steps[i] = min(levels[entry], tops[r] - base[r])
            ceilings[i] = core.scale * (table[at + steps[i]] - table[at] + slack[r])
            same = (
                exclusive
                and i + 1 < start[r + 1]
                and group[owner[entry]] == group[owner[entries[i + 1]]]
            )
            if not same:
                end = i + 1
            ends[i] = end


@njit(cache=True)
def gross_profits(layout: Layout, work: Work, prices: Ints) -> None:
    """What each active candidate of a linking group earns in all blocks together."""
    active, profit, pair_start = work.active, work.profit, layout.pair_start
    for at in range(work.counts[0]):
        u = active[at]
        earned = 0
        for pair in range(pair_start[u], pair_start[u + 1]):
            earned += prices[pair]
        profit[u] = earned


@njit(cache=True)
def _at_price(core: Core, layout: Layout, work: Work, mu: int) -> tuple[int, int, int]:
    """The groups' total net profit at budget price mu, from the gross profits in `work.profit`."""
    active, gross, rooms = work.active, work.profit, work.room
    owner, costs, inside = core.group, core.cost, layout.inside
    total, dear, cheap = 0, 0, 0
    at, count = 0, work.counts[0]
    while at < count:
        group = owner[active[at]]
        if inside[group]:
            while at < count and owner[active[at]] == group:
                at += 1
            continue
        room = rooms[group]
        if room == 1:
            best, high, low = 0, 0, 0
            while at < count and owner[active[at]] == group:
                u = active[at]
                cost = costs[u]
                net = gross[u] - mu * cost
                if net > best:
                    best, high, low = net, cost, cost
                elif net == best:
                    high = max(high, cost)
                    low = min(low, cost)
                at += 1
            total += best
            dear += high
            cheap += low
        else:
            begin = at
            while at < count and owner[active[at]] == group:
                at += 1
            limit = _nth_net(core, work, begin, at, room, mu)
            for i in range(begin, at):
                u = active[i]
                net = gross[u] - mu * costs[u]
                if net > 0 and net > limit:
                    total += net - limit
                    dear += costs[u]
                    cheap += costs[u]
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
    """The whole mu that minimises mu * left + the groups' profit (all groups linking).

    The function is convex: from a point on either side, the next try is where the two tangents
    meet.
    """
    low, low_value, low_slope = -1, 0, 0
    high, high_value, high_slope = -1, 0, 0
    best, best_value = -1, 0
    step = max(1, mu >> 6)
    for _ in range(64):
        total, dear, cheap = _at_price(core, layout, work, mu)
        value = total + mu * left
        if best < 0 or value < best_value:
            best, best_value = mu, value
        if cheap > left:
            low, low_value, low_slope = mu, value, left - cheap
        elif dear < left:
            high, high_value, high_slope = mu, value, left - dear
        else:
            break
        if low >= 0 and high >= 0:
            rise = low_value - high_value - low_slope * low + high_slope * high
            mu = min(high - 1, max(low + 1, rise // (high_slope - low_slope)))
            if mu <= low:
                break
        elif low >= 0:
            mu = low + step
            step *= 4
        elif high > 0:
            mu = max(0, high - step)
            step *= 4
        else:
            break
    return best, best_value


@njit(cache=True)
def pick(core: Core, layout: Layout, work: Work, mu: int, left: int, dear: int, cheap: int) -> None:
    """What each linking group sells; ties are mixed so that the budget is just used up."""
    active, gross, picked, rooms = work.active, work.profit, work.picked, work.room
    owner, costs, inside = core.group, core.cost, layout.inside
    mix = 0.0
    if dear > cheap:
        mix = min(1.0, max(0.0, (left - cheap) / (dear - cheap)))
    at, count = 0, work.counts[0]
    while at < count:
        group = owner[active[at]]
        begin = at
        while at < count and owner[active[at]] == group:
            picked[active[at]] = 0.0
            at += 1
        if inside[group]:
            continue
        room = rooms[group]
        if room == 1:
            best, high, low = 0, -1, -1
            for i in range(begin, at):
                u = active[i]
                net = gross[u] - mu * costs[u]
                if net > best:
                    best, high, low = net, u, u
                elif net == best:
                    if high < 0 or costs[u] > costs[high]:
                        high = u
                    if low >= 0 and costs[u] < costs[low]:
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
                net = gross[u] - mu * costs[u]
                if net > 0 and net >= limit and taken < room:
                    picked[u] = 1.0
                    taken += 1


@njit(cache=True)
def dense_side(core: Core, work: Work, prices: Ints) -> int:
    """Each unit buys the levels that pay: a multiple-choice DP over its coverage levels.

    The DP runs in place, from the highest level down, so that every option of a layer still
    sees the prices before the layer. Below level 0 the row is 0: more than enough is enough.
    """
    scale, pad = core.scale, work.counts[1]
    tops, starts, table = core.top, core.table_start, core.table
    row, choice, bought, bases = work.row, work.worth, work.bought, work.base
    live_start, entries, steps, ceilings, ends = (
        work.live_start, work.live_entry, work.live_step, work.live_ceiling, work.live_end
    )  # fmt: skip
    offer_price, offer_step, offer_entry = work.offer_price, work.offer_step, work.layer_at
    total = 0
    for r in range(tops.shape[0]):
        at, end = live_start[r], live_start[r + 1]
        if at == end:
            continue
        first = starts[r] + bases[r]
        span = tops[r] - bases[r]
        row[pad] = 0
        for z in range(pad + 1, pad + span + 1):
            row[z] = NEVER
        history, reach = -pad, 0
        while at < end:
            stop = ends[at]
            offered, longest = 0, 0
            for i in range(at, stop):
                cost = prices[entries[i]]
                bought[entries[i]] = 0.0
                if cost < ceilings[i]:
                    offer_price[offered] = cost
                    offer_step[offered] = steps[i]
                    offer_entry[offered] = entries[i]
                    longest = max(longest, steps[i])
                    offered += 1
            at = stop
            if offered == 0:
                continue
            cost, step, entry = offer_price[0], offer_step[0], offer_entry[0]
            reach = min(span, reach + longest)
            if offered == 1:
                for z in range(pad + reach, pad, -1):
                    value, old = row[z - step] + cost, row[z]
                    better = value < old
                    row[z] = value if better else old
                    choice[history + z] = entry if better else -1
            else:
                for z in range(pad + reach, pad, -1):
                    value, chosen = row[z], -1
                    for i in range(offered):
                        other = row[z - offer_step[i]] + offer_price[i]
                        chosen = offer_entry[i] if other < value else chosen
                        value = min(value, other)
                    row[z] = value
                    choice[history + z] = chosen
            history += pad
        best, level = 0, 0
        ground = table[first]
        for z in range(1, reach + 1):
            net = scale * (table[first + z] - ground) - row[pad + z]
            if net > best:
                best, level = net, z
        total += best
        while level > 0:
            history -= pad
            entry = choice[history + pad + level]
            if entry >= 0:
                bought[entry] = 1.0
                level = max(0, level - core.level[entry])
    return total


@njit(cache=True)
def dense_losses(core: Core, layout: Layout, work: Work, prices: Ints) -> None:
    """Adds, for each live entry, how much its unit loses if it must, or must not, buy it."""
    scale, pad = core.scale, work.counts[1]
    tops, starts, table = core.top, core.table_start, core.table
    before, after, row, bases = work.price, work.worth, work.row, work.base
    live_start, entries, steps, ceilings, ends = (
        work.live_start, work.live_entry, work.live_step, work.live_ceiling, work.live_end
    )  # fmt: skip
    owner, loss_in, loss_out = layout.entry_owner, work.loss_in, work.loss_out
    layer_at, tail = work.layer_at, work.tail
    for r in range(tops.shape[0]):
        at, end = live_start[r], live_start[r + 1]
        if at == end:
            continue
        first = starts[r] + bases[r]
        span = tops[r] - bases[r]
        row[pad] = 0
        before[0] = 0
        for z in range(1, span + 1):
            row[pad + z] = NEVER
            before[z] = NEVER
        layers, new = 0, 0
        while at < end:
            layer_at[layers] = at
            stop = ends[at]
            new += pad
            before[new] = 0
            for z in range(span, 0, -1):
                value = row[pad + z]
                for i in range(at, stop):
                    value = min(value, row[pad + z - steps[i]] + prices[entries[i]])
                row[pad + z] = value
                before[new + z] = value
            layers += 1
            at = stop
        layer_at[layers] = end
        # Above the span, `tail` repeats the value of full coverage.
        ground = table[first]
        for z in range(span + 1):
            tail[z] = scale * (table[first + z] - ground)
            after[new + z] = tail[z]
        for z in range(span + 1, 2 * span + 1):
            tail[z] = tail[span]
        for layer in range(layers - 1, -1, -1):
            here = layer * pad
            begin, stop = layer_at[layer], layer_at[layer + 1]
            for z in range(span + 1):
                value = tail[z]
                for i in range(begin, stop):
                    value = max(value, tail[z + steps[i]] - prices[entries[i]])
                tail[z] = value
                after[here + z] = value
        best = after[0]
        for layer in range(layers):
            here, later = layer * pad, (layer + 1) * pad
            top = -NEVER
            for z in range(span + 1):
                top = max(top, after[later + z] - before[here + z])
            second, winner = -NEVER, -1
            for i in range(layer_at[layer], layer_at[layer + 1]):
                step, cost = steps[i], prices[entries[i]]
                if cost >= ceilings[i]:
                    continue
                value = -NEVER
                for z in range(span - step):
                    value = max(value, after[later + z + step] - before[here + z])
                # `before` rises with the level: of those that reach the top, the first is best.
                value = max(value, after[later + span] - before[here + span - step]) - cost
                u = owner[entries[i]]
                loss_in[u] += best - value
                if value > top:
                    top, second, winner = value, top, u
                elif value > second:
                    second = value
            if winner >= 0:
                loss_out[winner] += best - second


@njit(cache=True)
def _price_options(
    core: Core, layout: Layout, work: Work, status: Ints, mu: int, left: int, prices: Ints
) -> None:
    """What each option costs its block at this node; NEVER where it is not allowed."""
    option_price, room, costs = work.option_price, work.room, core.cost
    candidate, pair, first = layout.option_candidate, layout.option_pair, layout.layer_option
    layer_group = layout.layer_group
    for layer in range(layer_group.shape[0]):
        closed = room[layer_group[layer]] == 0
        taken = False
        for o in range(first[layer] + 1, first[layer + 1]):
            u = candidate[o]
            if status[u] == KEPT:
                option_price[o] = 0
                taken = True
            elif closed or status[u] == BANNED or costs[u] > left:
                option_price[o] = NEVER
            elif pair[o] >= 0:
                option_price[o] = prices[pair[o]]
            else:
                option_price[o] = mu * costs[u]
        option_price[first[layer]] = NEVER if taken else 0


@njit(cache=True)
def graph_side(
    core: Core, layout: Layout, work: Work, status: Ints, mu: int, left: int, prices: Ints
) -> tuple[int, int]:
    """Each block's best path through its graph; the total, and the cost of what lies inside."""
    _price_options(core, layout, work, status, mu, left, prices)
    option_price, node, via, picks = work.option_price, work.node, work.via, work.best
    bought, scale, costs, group = work.bought, core.scale, core.cost, core.group
    source, target = layout.edge_source, layout.edge_target
    option, gain = layout.edge_option, layout.edge_gain
    candidate, pair = layout.option_candidate, layout.option_pair
    block_node, block_layer, layer_edge = layout.block_node, layout.block_layer, layout.layer_edge
    node.fill(-NEVER)
    picks.fill(-1)
    bought.fill(0.0)
    total, spent = 0, 0
    for b in range(block_layer.shape[0] - 1):
        begin = block_node[b]
        node[begin] = 0
        for edge in range(layer_edge[block_layer[b]], layer_edge[block_layer[b + 1]]):
            cost = option_price[option[edge]]
            if cost == NEVER:
                continue
            value = node[source[edge]] + scale * gain[edge] - cost
            if value > node[target[edge]]:
                node[target[edge]] = value
                via[target[edge]] = edge
        at = block_node[b + 1] - 1
        total += node[at]
        while at != begin:
            edge = via[at]
            o = option[edge]
            u = candidate[o]
            if u >= 0 and status[u] == FREE:
                if pair[o] >= 0:
                    bought[pair[o]] = 1.0
                else:
                    picks[group[u]] = u
                    spent += costs[u]
            at = source[edge]
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
    node, back, through, option_price = work.node, work.back, work.through, work.option_price
    source, target = layout.edge_source, layout.edge_target
    option, gain, scale = layout.edge_option, layout.edge_gain, core.scale
    candidate, layer_option = layout.option_candidate, layout.layer_option
    block_node, block_layer, layer_edge = layout.block_node, layout.block_layer, layout.layer_edge
    loss_in, loss_out = work.loss_in, work.loss_out
    back.fill(-NEVER)
    through.fill(-NEVER)
    for b in range(block_layer.shape[0] - 1):
        back[block_node[b + 1] - 1] = 0
        first, last = layer_edge[block_layer[b]], layer_edge[block_layer[b + 1]]
        for edge in range(last - 1, first - 1, -1):
            o = option[edge]
            if option_price[o] == NEVER:
                continue
            value = back[target[edge]] + scale * gain[edge] - option_price[o]
            begin = source[edge]
            back[begin] = max(back[begin], value)
            through[o] = max(through[o], node[begin] + value)
        best = node[block_node[b + 1] - 1]
        for layer in range(block_layer[b], block_layer[b + 1]):
            top, second, winner = -NEVER, -NEVER, -1
            for o in range(layer_option[layer], layer_option[layer + 1]):
                u = candidate[o]
                open_ = u >= 0 and status[u] == FREE and option_price[o] != NEVER
                if open_ and _offered(core, layout, work, o):
                    loss_in[u] += best - through[o]
                if through[o] > top:
                    top, second, winner = through[o], top, u
                elif through[o] > second:
                    second = through[o]
            if winner >= 0 and status[winner] == FREE:
                loss_out[winner] += best - second


@njit(cache=True)
def group_losses(core: Core, layout: Layout, work: Work, mu: int) -> None:
    """Sets each active candidate's loss on the group side."""
    active, gross = work.active, work.profit
    at, count = 0, work.counts[0]
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
        _, dear, cheap = _at_price(core, layout, work, mu)
        pick(core, layout, work, mu, left, dear, cheap)
        return core.scale * value + total + dense_side(core, work, prices), mu, dear
    total, dear, cheap = _at_price(core, layout, work, mu)
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
    total, _, _ = _at_price(core, layout, work, mu)
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

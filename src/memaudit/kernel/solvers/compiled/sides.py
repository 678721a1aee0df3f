"""The block side of the bound, in its two forms.

Dense: every unit is a block of its own, and its best purchase is a programme over coverage levels.
Graphs: a block of several units is a layered graph, and its best purchase is a longest path. Each
form also tells what forcing a candidate in or out costs its blocks.
"""

from numba import njit

from memaudit.kernel.solvers.compiled.types import (
    BANNED,
    FREE,
    KEPT,
    NEVER,
    Core,
    Ints,
    Layout,
    Work,
)


@njit(cache=True)
def list_live(core: Core, layout: Layout, work: Work) -> None:
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
                # A counting sort by unit: count, add up, place. Candidates come in order, so each
                # unit's entries stay sorted by group, and a layer is a run.
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
        # Placing has moved every start to the next one's: move them back.
        start[r] = start[r - 1]
    start[0] = 0
    for r in range(tops.shape[0]):
        at = starts[r] + base[r]
        end = start[r + 1]
        # From behind, so that each entry finds the end of its layer already known.
        for i in range(end - 1, start[r] - 1, -1):
            entry = entries[i]
            steps[i] = min(levels[entry], tops[r] - base[r])
            ceilings[i] = core.scale * (table[at + steps[i]] - table[at] + slack[r])
            # Above a cap of 1 nothing excludes anything here: a weaker bound, and the checker's.
            same = (
                exclusive
                and i + 1 < start[r + 1]
                and group[owner[entry]] == group[owner[entries[i + 1]]]
            )
            if not same:
                end = i + 1
            ends[i] = end


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
        work.live_start,
        work.live_entry,
        work.live_step,
        work.live_ceiling,
        work.live_end,
    )
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
                # At its ceiling a candidate brings the unit nothing, so it is left out, as in the
                # checker.
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
            # Levels beyond what the layers so far can reach stay NEVER and need not be looked at.
            reach = min(span, reach + longest)
            # The common case without the inner loop: this side takes nearly all of an evaluation's
            # time.
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
        # Back through the layers: `choice` says by which entry each level was reached at its layer.
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
    scale, pad, levels = core.scale, work.counts[1], core.level
    tops, starts, table = core.top, core.table_start, core.table
    before, after, row, bases = work.price, work.worth, work.row, work.base
    live_start, entries, ceilings, ends = (
        work.live_start,
        work.live_entry,
        work.live_ceiling,
        work.live_end,
    )
    owner, loss_in, loss_out = layout.entry_owner, work.loss_in, work.loss_out
    layer_at, tail, offer_price, offer_entry = (
        work.layer_at,
        work.tail,
        work.offer_price,
        work.offer_step,
    )
    for r in range(tops.shape[0]):
        at, end = live_start[r], live_start[r + 1]
        first = starts[r] + bases[r]
        span = tops[r] - bases[r]
        row[pad] = 0
        # `before[layer]` is the cheapest way to each level by the layers before it, `after[layer]`
        # the best net value from a level on by the layers from it. Forcing an entry is then one
        # pass over levels, not a programme of its own.
        before[0] = 0
        for z in range(1, span + 1):
            row[pad + z] = NEVER
            before[z] = NEVER
        layers, new, offered, reach = 0, 0, 0, 0
        while at < end:
            begin, longest = offered, 0
            for i in range(at, ends[at]):
                entry = entries[i]
                if prices[entry] < ceilings[i]:
                    offer_price[offered], offer_entry[offered] = prices[entry], entry
                    longest = max(longest, levels[entry])
                    offered += 1
            at = ends[at]
            if offered == begin:
                continue
            layer_at[layers] = begin
            layers += 1
            new += pad
            before[new] = 0
            reach = min(span, reach + longest)
            for z in range(reach + 1, span + 1):
                before[new + z] = NEVER
            for z in range(reach, 0, -1):
                value = row[pad + z]
                for i in range(begin, offered):
                    step = min(span, levels[offer_entry[i]])
                    value = min(value, row[pad + z - step] + offer_price[i])
                row[pad + z] = value
                before[new + z] = value
        if layers == 0:
            continue
        layer_at[layers] = offered
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
                    step = min(span, levels[offer_entry[i]])
                    value = max(value, tail[z + step] - offer_price[i])
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
                step = min(span, levels[offer_entry[i]])
                value = -NEVER
                for z in range(span - step):
                    value = max(value, after[later + z + step] - before[here + z])
                # `before` rises with the level: of those that reach the top, the first is best.
                value = max(value, after[later + span] - before[here + span - step])
                value -= offer_price[i]
                u = owner[offer_entry[i]]
                loss_in[u] += best - value
                # `top`, of buying nothing here, or of the best entry: losing the winner costs what
                # the next best of its layer, nothing included, is worse.
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
        # Where the layer's group keeps a candidate already, buying nothing is no option: the graph
        # has its levels only on that edge.
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
    # Edges are in the order of layers, so one pass over them finds all best paths.
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
        # Back along the best path: who bought, and what inside the block costs.
        while at != begin:
            edge = via[at]
            o = option[edge]
            u = candidate[o]
            # What is kept is given; only free candidates pull prices or spend budget.
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
        # The same pass from behind; a node's value is then the best path through it.
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

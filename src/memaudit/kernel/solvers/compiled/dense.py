"""The block side where every unit is a block of its own: a programme over coverage levels."""

from numba import njit

from memaudit.kernel.solvers.compiled.types import NEVER, Core, Ints, Layout, Work


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
                if value > top:
                    top, second, winner = value, top, u
                elif value > second:
                    second = value
            if winner >= 0:
                loss_out[winner] += best - second

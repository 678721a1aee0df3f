"""The block side where blocks are layered graphs: best paths, and what forcing an option costs."""

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

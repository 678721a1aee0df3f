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

from memaudit.kernel.solvers.compiled.groups import (
    at_price,
    best_mu,
    gross_profits,
    group_losses,
    pick,
)
from memaudit.kernel.solvers.compiled.sides import (
    dense_losses,
    dense_side,
    graph_losses,
    graph_side,
    list_live,
)
from memaudit.kernel.solvers.compiled.types import (
    FREE,
    KEPT,
    Core,
    Floats,
    Ints,
    Layout,
    Work,
    copy_into,
)


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
        np.array([0, widest]),
        ints(candidates),
        ints(units),
        ints(groups),
        ints(candidates),
        np.zeros(candidates),
        np.zeros(candidates),
        np.zeros(pairs),
        np.full(groups, -1),
        ints(candidates),
        ints(candidates),
        ints(units + 1),
        ints(dense),
        ints(dense),
        ints(dense),
        ints(dense),
        ints(deepest * widest),
        ints(deepest * widest),
        ints(deepest + 1),
        ints(deepest + 1),
        ints(deepest + 1),
        ints(2 * widest),
        ints(2 * widest),
        ints(nodes),
        ints(nodes),
        ints(nodes),
        ints(options),
        ints(options),
    )


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
                # Cut off at the top at once: what is beyond it is worth nothing, for the checker as
                # well.
                base[r] = min(tops[r], base[r] + levels[entry])
    value = 0
    for r in range(tops.shape[0]):
        value += table[starts[r] + base[r]]
    # Of candidates that are not active here nothing is picked or bought; averages would remember
    # it.
    work.picked.fill(0.0)  # of earlier nodes
    work.bought.fill(0.0)
    count = 0
    for u in range(cost.shape[0]):
        # What the checker leaves out of a node, in the same words: decided, no room, no budget
        # left, and below, nothing to add. So both sum over the same candidates.
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
                # The checker cuts prices off at what a candidate can still add here, so they are
                # cut off here, too: above it a price only raises the bound.
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
        # With no cost inside blocks the block side does not depend on mu, so the best mu for given
        # prices is found exactly instead of by steps.
        mu, total = best_mu(core, layout, work, mu, left)
        _, most_cost, least_cost = at_price(core, layout, work, mu)
        pick(core, layout, work, mu, left, most_cost, least_cost)
        return core.scale * value + total + dense_side(core, work, prices), mu, most_cost
    total, most_cost, least_cost = at_price(core, layout, work, mu)
    pick(core, layout, work, mu, left, most_cost, most_cost)
    blocks, spent = graph_side(core, layout, work, status, mu, left, prices)
    return mu * left + total + blocks, mu, spent + least_cost


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


MOMENTUM = 0.8
MEMORY = 0.85
"""How much of the average pick stays from round to round."""


@njit(cache=True)
def _move(layout: Layout, work: Work, prices: Ints, heading: Floats, length: float) -> bool:
    """One step of `length` against the deflected subgradient; False when there is none.

    Prices may rise above what a candidate can still add at this node: `enter` and the pair's
    own ceiling put them back.
    """
    active, picked, bought = work.active, work.picked, work.bought
    pair_start, ceilings = layout.pair_start, layout.pair_ceiling
    norm = 0.0
    for at in range(work.counts[0]):
        u = active[at]
        share = picked[u]
        for pair in range(pair_start[u], pair_start[u + 1]):
            price = prices[pair]
            # The subgradient of the bound: a candidate that is sold but not bought costs its blocks
            # too much, so its price falls; one that is bought but not sold rises. At a price that
            # can go no further the pull counts as 0, or its norm would shorten every step.
            pull = share - bought[pair]
            if (pull < 0 and price >= ceilings[pair]) or (pull > 0 and price <= 0):
                pull = 0.0
            # Deflected by the direction so far: without it steps zigzag between two picks.
            pull += MOMENTUM * heading[pair]
            if (pull < 0 and price >= ceilings[pair]) or (pull > 0 and price <= 0):
                pull = 0.0
            heading[pair] = pull
            norm += pull * pull
    if norm < 1e-12:
        return False
    # Polyak's step: `length` is how far the bound is hoped to fall.
    step = length / norm
    for at in range(work.counts[0]):
        u = active[at]
        for pair in range(pair_start[u], pair_start[u + 1]):
            if heading[pair] != 0.0:
                prices[pair] = np.int64(prices[pair] - step * heading[pair])
                prices[pair] = max(0, min(ceilings[pair], prices[pair]))
    return True


@njit(cache=True)
def ascend(
    core: Core,
    layout: Layout,
    work: Work,
    status: Ints,
    mu: int,
    left: int,
    value: int,
    prices: Ints,
    target: int,
    rounds: int,
    pace: Floats,
    heading: Floats,
    best: Ints,
) -> tuple[int, int]:
    """Lower the bound for up to `rounds` evaluations; leaves the best prices in place.

    Returns the bound and its mu; stops as soon as the bound is below `target`. `pace` is
    [aim, mu step]: with an aim above 0 (the root) steps aim that far below the best bound and
    the aim decays when progress stalls; otherwise (search nodes) they aim at the target.
    """
    # `best` holds the prices of the lowest bound so far: steps are not monotone, and the last may
    # be worse.
    lowest, lowest_mu = -1, mu
    stalled, ambition, sign = 0, 1.0, 0
    at_root = pace[0] != 0.0
    heading.fill(0.0)
    for turn in range(rounds):
        bound, used, spent = evaluate(core, layout, work, status, mu, left, value, prices)
        # The average of picks over an ascent is close to the relaxation's x; branching uses it.
        memory = MEMORY if turn else 0.0
        for at in range(work.counts[0]):
            u = work.active[at]
            work.share[u] = memory * work.share[u] + (1.0 - memory) * work.picked[u]
        # The first aim: down to the target, or a fortieth of the bound where there is none yet.
        if at_root and pace[0] < 0:
            pace[0] = max(bound - target, bound // 40) + 1.0
        slow = lowest >= 0 and (lowest - bound) * (500 if at_root else 100) < (
            pace[0] if at_root else lowest - target
        )
        if lowest < 0 or bound < lowest:
            lowest, lowest_mu = bound, used
            copy_into(best, prices)
            stalled = stalled + 1 if slow else 0
        else:
            stalled += 1
        # Below the target is all that is asked of a node, so no further round is spent on it.
        if bound < target or turn == rounds - 1:
            break
        # An aim that decays when it fails beat Polyak's fixed one: the optimum that steps should
        # aim at is not known at the root.
        if at_root and stalled >= 12:
            pace[0] *= 0.6
            stalled = 0
            for pair in range(heading.shape[0]):
                heading[pair] *= 0.3
            # An eighth of a unit of value: finer steps no longer change what can be fixed.
            if pace[0] < core.scale / 8:
                pace[0] = core.scale / 8
                break
        # At a node the target itself is the aim; giving up early saves the rounds of nodes that
        # have to branch anyway.
        elif not at_root and stalled >= 8:
            ambition *= 0.6
            stalled = 0
            if ambition < 0.03:
                break
        length = bound - lowest + pace[0]
        if not at_root:
            length = ambition * (bound - target + core.scale)
        moved = _move(layout, work, prices, heading, length)
        mu = used
        if not layout.dense:
            # The subgradient in mu is a whole number, budget left minus what is spent; its sign is
            # enough. Steps grow while the sign stays and shrink when it turns, so mu is enclosed.
            new = 1 if spent > left else -1
            if spent == left:
                new = 0
            pace[1] = max(1.0, pace[1] * (1.5 if new == sign else 0.4))
            if new != 0:
                mu = max(0, mu + new * int(pace[1]))
            if not moved and (new == 0 or (pace[1] <= 1.0 and new != sign and turn > 3)):
                break
            sign = new
        elif not moved:
            break
    # Losses, fixes and the proof go by the best multipliers, not by the last.
    copy_into(prices, best)
    return lowest, lowest_mu


@njit(cache=True, nogil=True)
def visit(
    core: Core,
    layout: Layout,
    work: Work,
    status: Ints,
    mu: int,
    left: int,
    prices: Ints,
    target: int,
    rounds: int,
    pace: Floats,
    heading: Floats,
    best: Ints,
) -> tuple[int, int, int]:
    """Enter a node and bound it: the bound, its mu, and the value already kept.

    Unless the bound is below the target, every active candidate's losses are filled in.
    """
    value = enter(core, layout, work, status, left, prices)
    bound, mu = ascend(
        core, layout, work, status, mu, left, value, prices, target, rounds, pace, heading, best
    )
    # Computed anew at the best prices: `work` holds the last round's.
    if bound >= target and work.counts[0] > 0:
        bound = losses(core, layout, work, status, mu, left, value, prices)
    return bound, mu, value

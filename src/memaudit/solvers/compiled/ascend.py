"""Better multipliers: deflected subgradient steps on the prices, a sign search on mu."""

import numpy as np
from numba import njit

from memaudit.solvers.compiled.bound import enter, evaluate, losses
from memaudit.solvers.compiled.types import Core, Floats, Ints, Layout, Work, copy_into

MOMENTUM = 0.8


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
            pull = share - bought[pair]
            if (pull < 0 and price >= ceilings[pair]) or (pull > 0 and price <= 0):
                pull = 0.0
            pull += MOMENTUM * heading[pair]
            if (pull < 0 and price >= ceilings[pair]) or (pull > 0 and price <= 0):
                pull = 0.0
            heading[pair] = pull
            norm += pull * pull
    if norm < 1e-12:
        return False
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
    lowest, lowest_mu = -1, mu
    stalled, ambition, sign = 0, 1.0, 0
    at_root = pace[0] != 0.0
    heading.fill(0.0)
    for turn in range(rounds):
        bound, used, spent = evaluate(core, layout, work, status, mu, left, value, prices)
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
        if bound < target or turn == rounds - 1:
            break
        if at_root and stalled >= 12:
            pace[0] *= 0.6
            stalled = 0
            for pair in range(heading.shape[0]):
                heading[pair] *= 0.3
            if pace[0] < core.scale / 8:
                pace[0] = core.scale / 8
                break
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
    copy_into(prices, best)
    return lowest, lowest_mu


@njit(cache=True)
def visit(
    core: Core, layout: Layout, work: Work, status: Ints, mu: int, left: int, prices: Ints,
    target: int, rounds: int, pace: Floats, heading: Floats, best: Ints,
) -> tuple[int, int, int]:  # fmt: skip
    """Enter a node and bound it: the bound, its mu, and the value already kept.

    Unless the bound is below the target, every active candidate's losses are filled in.
    """
    value = enter(core, layout, work, status, left, prices)
    bound, mu = ascend(
        core, layout, work, status, mu, left, value, prices, target, rounds, pace, heading, best
    )
    if bound >= target and work.counts[0] > 0:
        bound = losses(core, layout, work, status, mu, left, value, prices)
    return bound, mu, value

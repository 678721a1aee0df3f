"""Depth-first branch and bound over candidates, writing its own tree as it goes.

The tape is the certificate's proof (its language is described in checker.py): at every node the
multipliers that changed, what they fix, and then a leaf or a branch on one candidate.
"""

import numpy as np
from numba import njit

from memaudit.solvers.compiled.ascend import ascend
from memaudit.solvers.compiled.bound import enter, losses
from memaudit.solvers.compiled.primal import improve
from memaudit.solvers.compiled.types import (
    BANNED,
    FREE,
    KEPT,
    Core,
    Flags,
    Ints,
    Layout,
    Work,
    copy_into,
)  # fmt: skip

LEAF, BRANCH, MU, PRICE, FIX, ZERO, BLOCKS, FULL = 0, 1, 2, 3, 4, 5, 6, 7
UNSET = 1 << 60


@njit(cache=True)
def _wider(array: Ints, least: int) -> Ints:
    wider = np.empty(max(least, 2 * array.shape[0]), np.int64)
    copy_into(wider, array)
    return wider


@njit(cache=True)
def put_prices(
    core: Core,
    layout: Layout,
    work: Work,
    mu: int,
    prices: Ints,
    known: Ints,
    candidate_name: Ints,
    block_name: Ints,
    tape: Ints,
    used: int,
) -> tuple[Ints, int]:
    """Write mu and the prices of active pairs that the checker does not know yet."""
    pairs = 0
    for at in range(work.counts[0]):
        u = work.active[at]
        pairs += layout.pair_start[u + 1] - layout.pair_start[u]
    if used + 3 * pairs + 8 > tape.shape[0]:
        tape = _wider(tape, used + 3 * pairs + 8)
    tape[used] = MU
    tape[used + 1] = mu
    used += 2
    head = used
    used += 2
    changed = 0
    for at in range(work.counts[0]):
        u = work.active[at]
        for pair in range(layout.pair_start[u], layout.pair_start[u + 1]):
            ceiling = layout.pair_ceiling[pair]
            if layout.dense:
                r = core.unit[pair]
                base = core.table_start[r] + work.base[r]
                high = core.table_start[r] + min(core.top[r], work.base[r] + core.level[pair])
                ceiling = 0
                if high > base:
                    ceiling = core.scale * (core.table[high] - core.table[base] + core.slack[r])
            if min(known[pair], ceiling) != min(prices[pair], ceiling):
                known[pair] = prices[pair]
                tape[used] = candidate_name[u]
                tape[used + 1] = block_name[layout.pair_block[pair]]
                tape[used + 2] = prices[pair]
                used += 3
                changed += 1
    if changed:
        tape[head] = PRICE
        tape[head + 1] = changed
    else:
        used = head
    return tape, used


@njit(cache=True)
def put_fixes(
    core: Core,
    work: Work,
    status: Ints,
    bound: int,
    target: int,
    candidate_name: Ints,
    tape: Ints,
    used: int,
    trail: Ints,
    trailed: int,
) -> tuple[Ints, int, int, int]:
    """Decide every candidate whose other choice falls below the target; write them down.

    Returns the tape, its use, the trail's use and the cost of what is now kept.
    """
    count = work.counts[0]
    if used + count + 4 > tape.shape[0]:
        tape = _wider(tape, used + count + 4)
    start = used
    tape[used] = FIX
    used += 2
    spent = 0
    for at in range(count):
        u = work.active[at]
        if bound - work.loss_in[u] < target:
            status[u] = BANNED
            trail[trailed] = u
            trailed += 1
            tape[used] = candidate_name[u]
            used += 1
    tape[start + 1] = used - start - 2
    middle = used
    used += 1
    for at in range(count):
        u = work.active[at]
        if status[u] == FREE and bound - work.loss_out[u] < target:
            status[u] = KEPT
            trail[trailed] = u
            trailed += 1
            spent += core.cost[u]
            tape[used] = candidate_name[u]
            used += 1
    tape[middle] = used - middle - 1
    if used == start + 3:
        used = start
    return tape, used, trailed, spent


@njit(cache=True)
def overfull(core: Core, status: Ints) -> bool:
    """Whether some group keeps more than its cap."""
    kept = 0
    for u in range(core.cost.shape[0]):
        if u > 0 and core.group[u] != core.group[u - 1]:
            kept = 0
        if status[u] == KEPT:
            kept += 1
            if kept > core.room[core.group[u]]:
                return True
    return False


@njit(cache=True)
def _branching(work: Work, status: Ints) -> int:
    """The free candidate whose exclusion, or at least whose decision, moves the bound most."""
    best, score = -1, -1.0
    for at in range(work.counts[0]):
        u = work.active[at]
        if status[u] == FREE:
            out = float(work.loss_out[u])
            merit = out + min(float(work.loss_in[u]), out)
            if merit > score:
                best, score = u, merit
    return best


@njit(cache=True, nogil=True)
def search(
    core: Core,
    layout: Layout,
    work: Work,
    budget: int,
    incumbent: int,
    store: Flags,
    rounds: int,
    most_nodes: int,
    mu: int,
    prices: Ints,
    known: Ints,
    candidate_name: Ints,
    block_name: Ints,
    tape: Ints,
    used: int,
    stop: Ints,
) -> tuple[int, bool, int, int, Ints, int]:
    """Solve the core exactly, starting from an incumbent value (its store may lie elsewhere).

    Returns the best value, whether the tree is closed, the number of nodes, the highest bound
    still open (times scale), and the tape with its use. A better store is left in `store`.
    """
    count, pairs = core.cost.shape[0], prices.shape[0]
    status = np.zeros(count, np.int64)
    trail = np.empty(count + 1, np.int64)
    depths = 32
    saved = np.empty(depths * pairs, np.int64)
    heard = np.empty(depths * pairs, np.int64)
    saved_mu = np.zeros(depths, np.int64)
    saved_bound = np.zeros(depths, np.int64)
    branch = np.zeros(depths, np.int64)
    mark = np.zeros(depths, np.int64)
    spent_at = np.zeros(depths, np.int64)
    heading = np.zeros(pairs)
    best_prices = prices.copy()
    pace = np.array([0.0, 16.0])
    covered = np.zeros(core.top.shape[0], np.int64)
    amount = np.zeros(core.top.shape[0], np.int64)
    trial = np.zeros(count, np.bool_)
    depth, trailed, spent, nodes = 0, 0, 0, 0
    open_bound = UNSET
    scale = core.scale
    while True:
        nodes += 1
        dead = spent > budget or overfull(core, status)
        if dead:
            if used + 1 > tape.shape[0]:
                tape = _wider(tape, used + 1)
            tape[used] = FULL
            used += 1
        again = not dead
        while again:
            again = False
            left = budget - spent
            target = (incumbent + core.grain) * scale
            pace[1] = max(1.0, mu / 64)
            value = enter(core, layout, work, status, left, prices)
            bound, mu = ascend(
                core, layout, work, status, mu, left, value, prices, target, rounds, pace,
                heading, best_prices, stop,
            )  # fmt: skip
            open_bound = min(bound, saved_bound[depth - 1]) if depth else bound
            if value > incumbent:
                incumbent = value
                for u in range(count):
                    store[u] = status[u] == KEPT
                target = (incumbent + core.grain) * scale
            if bound >= target and work.counts[0] > 0 and (nodes < 100 or nodes & 15 == 0):
                for u in range(count):
                    trial[u] = status[u] == KEPT
                for at in range(work.counts[0]):
                    u = work.active[at]
                    if work.picked[u] > 0.5 or work.best[core.group[u]] == u:
                        trial[u] = True
                better = improve(core, trial, budget, 1, covered, amount)
                if better > incumbent:
                    incumbent = better
                    for u in range(count):
                        store[u] = trial[u]
                    target = (incumbent + core.grain) * scale
            if work.counts[0] == 0:
                mu = 0
            tape, used = put_prices(
                core, layout, work, mu, prices, known, candidate_name, block_name, tape, used
            )
            if bound < target or work.counts[0] == 0:
                tape[used] = LEAF
                used += 1
                dead = True
                break
            if nodes >= most_nodes or stop[0] != 0:
                for level in range(depth):
                    if branch[level] >= 0:
                        open_bound = max(open_bound, saved_bound[level])
                return incumbent, False, nodes, open_bound, tape, used
            bound = losses(core, layout, work, status, mu, left, value, prices)
            before = trailed
            tape, used, trailed, extra = put_fixes(
                core, work, status, bound, target, candidate_name, tape, used, trail, trailed
            )
            spent += extra
            if trailed > before:
                if spent > budget or overfull(core, status):
                    if used + 1 > tape.shape[0]:
                        tape = _wider(tape, used + 1)
                    tape[used] = FULL
                    used += 1
                    dead = True
                    break
                decided = trailed - before
                again = extra > 0 or decided * 4 > work.counts[0]
        if dead:
            while depth > 0 and branch[depth - 1] < 0:
                depth -= 1
            if depth == 0:
                return incumbent, True, nodes, incumbent * scale, tape, used
            level = depth - 1
            while trailed > mark[level]:
                trailed -= 1
                status[trail[trailed]] = FREE
            spent = spent_at[level]
            u = branch[level]
            branch[level] = -1
            status[u] = BANNED
            trail[trailed] = u
            trailed += 1
            mu = saved_mu[level]
            for pair in range(pairs):
                prices[pair] = saved[level * pairs + pair]
                known[pair] = heard[level * pairs + pair]
            continue
        chosen = _branching(work, status)
        if depth == depths:
            saved, heard = _wider(saved, 0), _wider(heard, 0)
            saved_mu, saved_bound = _wider(saved_mu, 0), _wider(saved_bound, 0)
            branch, mark = _wider(branch, 0), _wider(mark, 0)
            spent_at = _wider(spent_at, 0)
            depths *= 2
        if used + 2 > tape.shape[0]:
            tape = _wider(tape, used + 2)
        tape[used] = BRANCH
        tape[used + 1] = candidate_name[chosen]
        used += 2
        for pair in range(pairs):
            saved[depth * pairs + pair] = prices[pair]
            heard[depth * pairs + pair] = known[pair]
        saved_mu[depth] = mu
        saved_bound[depth] = bound
        branch[depth] = chosen
        mark[depth] = trailed
        spent_at[depth] = spent
        status[chosen] = KEPT
        trail[trailed] = chosen
        trailed += 1
        spent += core.cost[chosen]
        depth += 1

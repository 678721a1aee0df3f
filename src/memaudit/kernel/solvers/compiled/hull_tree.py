"""A depth-first search that bounds its nodes by the hulls of the units, compiled as a whole.

Every prune and every fix is decided in integers, by the bound that the checker computes, at the
rounded duals. The search writes its proof as it goes: one layout, every unit a block of its own.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from memaudit.kernel.solvers.compiled.bound import enter, evaluate, visit
from memaudit.kernel.solvers.compiled.hull import bound_by_hulls, multipliers
from memaudit.kernel.solvers.compiled.primal import improve
from memaudit.kernel.solvers.compiled.simplex import (
    EMPTY,
    UNBOUNDED,
    dual_simplex,
    objective,
    set_bounds,
)
from memaudit.kernel.solvers.compiled.types import (
    BANNED,
    FREE,
    KEPT,
    Core,
    Flags,
    Floats,
    Ints,
    Layout,
    Tableau,
    Work,
    copy_into,
)
from memaudit.kernel.solvers.protocol import BRANCH, BROKEN, FIX, LEAF, MU, PRICE

ROOT_ROUNDS, NODE_ROUNDS = 30, 2
"""Rounds of cuts at the root of a search and at its other nodes."""

LEAST = 0.02
"""A round of cuts that lowers the bound by less does not count as progress."""

PROBES, PROBE_PIVOTS = 8, 12
"""Candidates that a node tries both ways before it branches, and the pivots of a try."""

POLISH = 6
"""Steps of price ascent where the bound misses the target by less than one."""

STORES_AT_FIRST, STORES_LATER = 4, 8
"""The first nodes look for a store each, later every so many."""

MARGIN = 1e-3
"""By how much a floating-point bound has to be below a target before a search of it ends."""

CLOSED, FOUND, STOPPED = range(3)
"""How a search ends: all is proven, a store is worth enough, or it has no more room or time."""


class Search(NamedTuple):
    """Where a search stands: what it has decided, and what it remembers of every depth."""

    counts: Ints  # value of the best store, nodes, words of proof, depth, trail, budget left
    status: Ints
    trail: Ints  # candidates in the order in which they were fixed
    tape: Ints
    chosen: Flags  # the best store found
    known: Ints  # the prices that the proof holds, by entry
    prices: Ints
    numbers: Ints  # budget left, mu, length of the trail, candidate that is branched on
    side: Ints
    values: Floats  # the value of the relaxation, and x of that candidate


@njit(cache=True)
def _put(tape: Ints, used: int, word: int) -> int:
    tape[used] = word
    return used + 1


@njit(cache=True)
def _write_multipliers(
    core: Core,
    work: Work,
    names: Ints,
    unit_names: Ints,
    mu: int,
    prices: Ints,
    known: Ints,
    tape: Ints,
    used: int,
) -> int:
    """mu, and the prices of open candidates that the proof does not hold yet."""
    used = _put(tape, _put(tape, used, MU), mu)
    # The count stands before the prices but is known after them, so its place is left free.
    head, count = used, 0
    used += 2
    for at in range(work.counts[0]):
        u = work.active[at]
        for entry in range(core.row_start[u], core.row_start[u + 1]):
            if known[entry] != prices[entry]:
                known[entry] = prices[entry]
                tape[used], tape[used + 1] = names[u], unit_names[core.unit[entry]]
                tape[used + 2] = prices[entry]
                used += 3
                count += 1
    if count == 0:
        return head
    tape[head], tape[head + 1] = PRICE, count
    return used


@njit(cache=True)
def _fix(
    core: Core,
    work: Work,
    status: Ints,
    names: Ints,
    bound: int,
    target: int,
    trail: Ints,
    trailed: int,
    tape: Ints,
    used: int,
) -> tuple[int, int, int, int]:
    """Decide candidates whose other choice is below the target.

    Returns the lengths of trail and tape, the number of bans, and the cost of what is kept; -1
    where nothing was decided to keep.
    """
    bans, keeps, spent = 0, 0, -1
    for at in range(work.counts[0]):
        u = work.active[at]
        if bound - work.loss_in[u] < target:
            bans += 1
        elif bound - work.loss_out[u] < target:
            keeps += 1
    if bans + keeps == 0:
        return trailed, used, 0, spent
    # Two passes: the words need the numbers before the candidates. Each candidate is decided by its
    # own fall from the same bound, so the order does not matter.
    used = _put(tape, _put(tape, used, FIX), bans)
    for at in range(work.counts[0]):
        u = work.active[at]
        if bound - work.loss_in[u] < target:
            used = _put(tape, used, names[u])
            status[u] = BANNED
            trail[trailed] = u
            trailed += 1
    used = _put(tape, used, keeps)
    if keeps:
        spent = 0
    for at in range(work.counts[0]):
        u = work.active[at]
        # FREE leaves out those that were banned above: below the target on both sides is one
        # decision.
        if status[u] == FREE and bound - work.loss_out[u] < target:
            used = _put(tape, used, names[u])
            status[u] = KEPT
            spent += core.cost[u]
            trail[trailed] = u
            trailed += 1
    return trailed, used, bans, spent


@njit(cache=True)
def _overfull(core: Core, status: Ints) -> bool:
    """Whether a group keeps more than it may."""
    for g in range(core.room.shape[0]):
        kept = 0
        for u in range(core.group_start[g], core.group_start[g + 1]):
            kept += status[u] == KEPT
        if kept > core.room[g]:
            return True
    return False


@njit(cache=True)
def _follow(lp: Tableau, work: Work, status: Ints, wanted: Flags) -> None:
    """Give the relaxation the bounds of the present node."""
    for u in range(lp.candidates):
        # Candidates that are free but out of reach (no budget, no room, nothing to add) have x = 0,
        # too: the bound leaves them out, so the relaxation must.
        wanted[u] = False
    for at in range(work.counts[0]):
        wanted[work.active[at]] = True
    for u in range(lp.candidates):
        low = 1.0 if status[u] == KEPT else 0.0
        high = 1.0 if status[u] == KEPT or wanted[u] else 0.0
        # Each change may move all basic variables, so only changes are made.
        if lp.low[u] != low or lp.high[u] != high:
            set_bounds(lp, u, low, high)


@njit(cache=True)
def _probe(lp: Tableau, u: int, side: float, value: float, cutoff: float) -> float:
    """How far the relaxation falls, at most to the cutoff, with a candidate decided."""
    set_bounds(lp, u, side, side)
    state = dual_simplex(lp, cutoff, PROBE_PIVOTS)
    # Twelve pivots do not reach the optimum, but the value only falls: a try underestimates the
    # fall at most.
    after = cutoff if state == EMPTY else max(cutoff, objective(lp))
    return max(0.0, value - after)


@njit(cache=True)
def _choose(
    lp: Tableau,
    work: Work,
    status: Ints,
    values: Floats,
    value: float,
    cutoff: float,
    history: Floats,
) -> int:
    """The candidate to branch on: that whose decision, either way, lowers the bound most.

    Falls are those seen so far per unit of x, on average where a candidate has none. The likeliest
    candidates without any are tried. Where no x is fractional, losses of the exact bound decide.
    """
    falls, counts = np.zeros(2), np.zeros(2)
    for side in range(2):
        for u in range(history.shape[0]):
            falls[side] += history[u, 2 * side]
            counts[side] += history[u, 2 * side + 1]
        # Candidates that were never branched on count as average; 1 where nobody was.
        falls[side] = falls[side] / counts[side] if counts[side] > 0 else 1.0
    count = 0
    options, keys = np.empty(work.counts[0], np.int64), np.empty(work.counts[0])
    for at in range(work.counts[0]):
        u = work.active[at]
        x = values[u]
        if status[u] == FREE and 1e-6 < x < 1 - 1e-6:
            up = history[u, 0] / history[u, 1] if history[u, 1] > 0 else falls[0]
            down = history[u, 2] / history[u, 3] if history[u, 3] > 0 else falls[1]
            options[count] = u
            # Both sides must be closed, so the product counts: it prefers two middling falls to one
            # large one. The floor keeps a side without any fall from hiding the other.
            keys[count] = max(up * (1 - x), 1e-4) * max(down * x, 1e-4)
            count += 1
    best, best_key, tried = -1, -1.0, 0
    for at in np.argsort(-keys[:count], kind="mergesort"):
        u, key, x = options[at], keys[at], values[options[at]]
        # One observation is taken for reliable; four, or more tries, changed times by less than
        # 10%.
        if min(history[u, 1], history[u, 3]) < 1 and tried < PROBES and value > -UNBOUNDED:
            tried += 1
            up = _probe(lp, u, 1.0, value, cutoff)
            down = _probe(lp, u, 0.0, value, cutoff)
            # Not back to the optimum: the next node's relaxation starts from wherever this one
            # stands.
            set_bounds(lp, u, 0.0, 1.0)
            history[u, 0] += up / (1 - x)
            history[u, 2] += down / x
            history[u, 1] += 1.0
            history[u, 3] += 1.0
            key = max(up, 1e-4) * max(down, 1e-4)
        if key > best_key:
            best, best_key = u, key
    # No fractional x among what is open, but the integer bound is not below the target: it was
    # rounded, or x breaks what cuts do not say. Losses of the exact bound decide then.
    if best < 0:
        for at in range(work.counts[0]):
            u = work.active[at]
            if status[u] == FREE:
                key = float(work.loss_out[u] + min(work.loss_in[u], work.loss_out[u]))
                if key > best_key:
                    best, best_key = u, key
    return best


@njit(cache=True, nogil=True)
def grow(
    core: Core,
    layout: Layout,
    work: Work,
    lp: Tableau,
    names: Ints,
    unit_names: Ints,
    mu: int,
    prices: Ints,
    assumed: int,
    budget: int,
    most_nodes: int,
    stop: Ints,
    at: Search,
) -> int:
    """Search for a store worth more than assumed, or prove that there is none.

    Says how it ends. Another thread ends it by `stop`. Where it stops, the present node is still to
    be visited, and so are the other sides of the branches above it.
    """
    scale, grain, n = core.scale, core.grain, lp.candidates
    # The target in integers decides what is proven. The cutoff only ends a relaxation early, so it
    # may be in floating point; MARGIN keeps it on the safe side of the rounding of duals.
    target, cutoff = (assumed + grain) * scale, assumed + grain - MARGIN
    entries, counts, status, trail = core.unit.shape[0], at.counts, at.status, at.trail
    tape, chosen = at.tape, at.chosen
    history, values = np.zeros((n, 4)), np.zeros(lp.columns)
    heading, spare = np.zeros(entries), np.zeros(entries, np.int64)
    covered, amount = np.zeros((2, core.top.shape[0]), np.int64)
    trial, wanted = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    pace = np.zeros(2)
    left, depth, used, nodes, trailed, best = budget, 0, 0, 0, 0, counts[0]
    above, share, came_by = -1.0, 0.0, -1
    value = 0.0
    copy_into(spare, prices)
    for entry in range(entries):
        at.known[0, entry] = -1
    while True:
        full = depth >= at.side.shape[0] - 1
        pruned = False
        while True:
            # A node writes at most 3 words a price and, in FIX, one a candidate, with room to
            # spare; a full tape, like a stop, ends the search where the node has not begun.
            if used + 4 * entries + 4 * n + 64 > tape.shape[0] or full or stop[0]:
                most_nodes = nodes
            counts[1] = nodes
            if nodes >= most_nodes:
                counts[2], counts[3], counts[4], counts[5] = used, depth, trailed, left
                return STOPPED
            # What was fixed may break the budget or a cap together: then no store is in this node
            # at all.
            if left < 0 or _overfull(core, status):
                used = _put(tape, used, BROKEN)
                pruned = True
                break
            kept = enter(core, layout, work, status, left, prices)
            # First the parent's prices: in integers, without a pivot, they close many nodes.
            bound, mu, _ = evaluate(core, layout, work, status, mu, left, kept, prices)
            if kept > best:
                best = counts[0] = kept
                for u in range(n):
                    chosen[u] = status[u] == KEPT
            empty = work.counts[0] == 0
            if bound >= target and not empty:
                _follow(lp, work, status, wanted)
                rounds = NODE_ROUNDS if depth else ROOT_ROUNDS
                value = bound_by_hulls(lp, core, values, cutoff, rounds, LEAST)
                # Where the relaxation is empty its duals are of no use; the old prices stay, and
                # the exact bound or the next decisions close the node.
                if value > -UNBOUNDED:
                    mu = multipliers(lp, scale, prices)
                    # What was learnt of the branch: the fall from the parent's value by unit of x.
                    if share > 0.0:
                        history[came_by, 2 * at.side[depth - 1]] += max(0.0, above - value) / share
                        history[came_by, 2 * at.side[depth - 1] + 1] += 1.0
                share = 0.0
                pace[0], pace[1] = 0.0, max(1.0, mu / 64)
                bound, mu, _ = visit(
                    core, layout, work, status, mu, left, prices, target, 1, pace, heading, spare
                )
                # Stores are sought in the whole core at the whole budget, not below this node only:
                # any store worth more than assumed ends the search.
                if bound >= target and (nodes < STORES_AT_FIRST or nodes % STORES_LATER == 0):
                    for u in range(n):
                        trial[u] = values[u] > 0.5
                    found = improve(core, trial, budget, 1, covered, amount)
                    if found > best:
                        best = counts[0] = found
                        for u in range(n):
                            chosen[u] = trial[u]
                if target <= bound < target + scale:
                    bound, mu, _ = visit(
                        core,
                        layout,
                        work,
                        status,
                        mu,
                        left,
                        prices,
                        target,
                        POLISH,
                        pace,
                        heading,
                        spare,
                    )
            share = 0.0
            # Everything written so far is dropped by the caller: the next attempt assumes another
            # value.
            if best > assumed:
                return FOUND
            if empty:
                mu = 0
            used = _write_multipliers(
                core, work, names, unit_names, mu, prices, at.known[depth], tape, used
            )
            if bound < target or empty:
                used = _put(tape, used, LEAF)
                pruned = True
                break
            before = work.counts[0]
            trailed, used, bans, spent = _fix(
                core, work, status, names, bound, target, trail, trailed, tape, used
            )
            left -= max(0, spent)
            # Keeping changes levels, and many bans the relaxation, so the node is bounded once
            # more; after a few bans alone it is not worth it.
            if spent < 0 and bans * 4 <= before:
                break
        nodes += 1
        if not pruned:
            u = _choose(lp, work, status, values, value, cutoff, history)
            if u < 0:  # everything was fixed: visit the node once more
                nodes -= 1
                continue
            used = _put(tape, _put(tape, used, BRANCH), names[u])
            numbers = at.numbers[depth]
            numbers[0], numbers[1], numbers[2], numbers[3] = left, mu, trailed, u
            at.values[depth, 0], at.values[depth, 1] = value, values[u]
            # The banned side comes later and starts from here: prices, and what the proof knows of
            # them, are those of this node and not of the subtree between.
            copy_into(at.prices[depth], prices)
            copy_into(at.known[depth + 1], at.known[depth])
            at.side[depth] = 0
            status[u] = KEPT
            left -= core.cost[u]
            above, came_by, x = value, u, values[u]
            share = 1 - x if 1e-6 < x < 1 - 1e-6 else 0.0
            depth += 1
            continue
        while depth > 0 and at.side[depth - 1] == 1:
            depth -= 1
            # Both sides are done: what was fixed at that node goes as well.
            trailed = _undo(status, trail, trailed, at.numbers[depth])
        if depth == 0:
            counts[1], counts[2] = nodes, used
            return CLOSED
        numbers = at.numbers[depth - 1]
        trailed = _undo(status, trail, trailed, numbers)
        left, mu, u = numbers[0], numbers[1], numbers[3]
        at.side[depth - 1] = 1
        status[u] = BANNED
        copy_into(prices, at.prices[depth - 1])
        copy_into(at.known[depth], at.known[depth - 1])
        above, came_by, x = at.values[depth - 1, 0], u, at.values[depth - 1, 1]
        share = x if 1e-6 < x < 1 - 1e-6 else 0.0


@njit(cache=True)
def _undo(status: Ints, trail: Ints, trailed: int, numbers: Ints) -> int:
    """Forget what was decided below a depth; returns the length of the trail."""
    while trailed > numbers[2]:
        trailed -= 1
        status[trail[trailed]] = FREE
    status[numbers[3]] = FREE
    return trailed


def new_search(candidates: int, entries: int, depth: int, words: int) -> Search:
    """A search that has decided nothing, with room for so many depths and words of proof."""
    return Search(
        np.array([-1, 0, 0, 0, 0, 0]),
        np.zeros(candidates, np.int64),
        np.zeros(2 * candidates + 16, np.int64),
        np.zeros(words, np.int64),
        np.zeros(candidates, np.bool_),
        np.zeros((depth, entries), np.int64),
        np.zeros((depth, entries), np.int64),
        np.zeros((depth, 4), np.int64),
        np.zeros(depth, np.int64),
        np.zeros((depth, 2)),
    )


def waiting(search: Search) -> list[tuple[Ints, int]]:
    """What a search that stopped has left, in the order of the proof: decisions and budget left."""
    left, depth, end = search.counts[5], search.counts[3], search.counts[4]
    status = search.status.copy()
    nodes = [(status.copy(), int(left))]
    # In the order of the proof: the present node comes first, then the banned sides from the
    # deepest up, since the tree is in preorder.
    for above in range(depth - 1, -1, -1):
        left, _, trailed, u = search.numbers[above]
        status[search.trail[trailed:end]] = FREE
        status[u], end = BANNED, trailed
        if search.side[above] == 0:
            nodes.append((status.copy(), int(left)))
        status[u] = FREE
    return nodes

"""Exact search for small problems: depth first over candidates, a fractional bound at each node.

It runs in two ways: as plain Python, so that a first small solve does not wait for a compiler, and
compiled (compiled/problem.py and compiled/batch.py), for many at a time. Both give the same store
and the same proof, because they are the same lines. So everything here is written with arrays and
integers only.
"""

from math import gcd

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.solvers.protocol import BRANCH, LEAF, MU, ZERO

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Problem = tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]
"""cost, group, row_start, unit, level, table_start, table, top, slack: as in `Packed`."""

MOST_TRIES = 12
"""How many prices of the budget a node tries before it branches."""


def useful(
    cost: Ints,
    group: Ints,
    row_start: Ints,
    unit: Ints,
    level: Ints,
    top: Ints,
    budget: int,
    cap: int,
) -> Flags:
    """Candidates that fit the budget, cover something and (at cap 1) are not dominated.

    u is dominated by v of its group if v costs no more and covers no less anywhere; of two
    equal ones the first stays.
    """
    count = cost.shape[0]
    keep = np.ones(count, np.bool_)
    for u in range(count):
        if cost[u] > budget or row_start[u] == row_start[u + 1]:
            keep[u] = False
    # Only at cap 1 does v's place come free when u leaves it: above, a store may want both.
    if cap > 1:
        return keep
    first = 0
    while first < count:
        end = first
        while end < count and group[end] == group[first]:
            end += 1
        for u in range(first, end):
            for v in range(first, end):
                # A dominated v need not be asked: what dominates it dominates u as well. Domination
                # with ties broken by number is a strict order, so it never runs in a circle.
                if keep[u] and v != u and keep[v] and cost[v] <= cost[u]:
                    equal = cost[v] == cost[u]
                    keep[u] = not dominated(row_start, unit, level, top, u, v, equal)
        first = end
    return keep


def dominated(
    row_start: Ints, unit: Ints, level: Ints, top: Ints, u: int, v: int, equal: bool
) -> bool:
    """Whether v, which costs no more, covers no less than u; of equals, the first is better."""
    at, stop = row_start[v], row_start[v + 1]
    # Both rows are sorted by unit, so one pass over each is enough. What v covers beside u's units,
    # or beyond its levels, only shows that the two are not equal.
    for entry in range(row_start[u], row_start[u + 1]):
        r = unit[entry]
        while at < stop and unit[at] < r:
            at += 1
            equal = False
        if at == stop or unit[at] != r:
            return False
        have, need = min(level[at], top[r]), min(level[entry], top[r])
        if have < need:
            return False
        if have > need:
            equal = False
        at += 1
    return at < stop or not equal or v < u


def grain(unit: Ints, level: Ints, table_start: Ints, table: Ints, units: int) -> int:
    """A number that divides the value of every store: levels come in multiples of their gcd."""
    step = np.zeros(units, np.int64)
    for entry in range(unit.shape[0]):
        step[unit[entry]] = gcd(step[unit[entry]], level[entry])
    divisor = 0
    for r in range(units):
        if step[r] == 0:
            continue
        # A sum of levels is a multiple of their gcd, or it is cut off at the top. So only these
        # values occur, and the gcd of a table in full would often be 1 for nothing.
        last = table_start[r + 1] - 1
        at = table_start[r]
        while divisor != 1:
            at = min(at + step[r], last)
            divisor = gcd(divisor, table[at])
            if at == last:
                break
    return max(1, divisor)


def small_search(
    problem: Problem,
    budget: int,
    cap: int,
    scale: int,
    grain: int,
    known: int,
    most_nodes: int,
    status: Ints,
    store: Flags,
    amount: Ints,
    kept: Ints,
    gain: Ints,
    order: Ints,
    branch: Ints,
    won: Ints,
    nets: Ints,
    tape: Ints,
) -> tuple[int, int, int, int]:
    """Solve exactly.

    `status` has 0 for open candidates, 1 for kept ones, 2 for those that are banned or left out;
    all other arrays up to `nets` are scratch. Multipliers are whole numbers of 1/`scale`; every
    value is a multiple of `grain`. `known` is the value of the store that is already in `store`, or
    -1 where there is none.

    Returns the best value, the nodes visited, the words of proof written (or -1 when the tape was
    too short) and, times scale, the highest bound still open (0 when the search is complete).

    What the loop maintains: `value`, `spent`, `amount` (per unit, the levels covered, not cut off)
    and `kept` (per group) belong to the candidates with status 1. `branch[:depth]` is the way from
    the root: u where u is kept, -1 - u where it was kept before and is banned now. `won[d]` is the
    value and `won[candidates + d]` the bound of the node at depth d.
    """
    candidates = problem[0].shape[0]
    best, value, spent, depth, nodes, used = known, 0, 0, 0, 0, 0
    open_bound = 0
    going_down = True
    while True:
        if not going_down:
            while depth > 0 and branch[depth - 1] < 0:
                depth -= 1
                status[-1 - branch[depth]] = 0
            if depth == 0:
                break
            u = branch[depth - 1]
            branch[depth - 1] = -1 - u
            value = won[depth - 1]
            status[u] = 2
            spent -= cover(problem, u, -1, amount, kept)
            going_down = True
            continue
        nodes += 1
        if value > best:
            best = value
            for u in range(candidates):
                store[u] = status[u] == 1
        # Values come in steps, so what stays below the next step above the best is done with.
        target = scale * (best + grain)
        left = budget - spent
        count = options(problem, left, cap, status, amount, kept, gain, order)
        bound, mu = priced(
            problem, value, left, cap, scale, target, kept, gain, order[:count], nets
        )
        saturated = bound >= target and scale * (value + uncovered(problem, amount)) < target
        if bound < target or saturated or count == 0:
            used = write_leaf(tape, used, mu, saturated)
            going_down = False
            continue
        if nodes >= most_nodes:
            # Open are this node and the banned side of every branch above that is still kept.
            open_bound = bound
            for i in range(depth):
                if branch[i] >= 0:
                    open_bound = max(open_bound, won[candidates + i])
            break
        # The densest first, and kept before banned: that is the greedy store at the first leaf.
        u = order[0]
        if used >= 0 and used + 2 <= tape.shape[0]:
            tape[used] = BRANCH
            tape[used + 1] = u
            used += 2
        else:
            used = -1
        branch[depth] = u
        won[depth] = value
        won[candidates + depth] = bound
        depth += 1
        status[u] = 1
        value += gain_of(problem, u, amount, False)
        spent += cover(problem, u, 1, amount, kept)
    return best, nodes, used, open_bound


def gain_of(problem: Problem, u: int, amount: Ints, upper: bool) -> int:
    """What u adds at most to units at their levels.

    `upper`: in all nodes below, too. Tables of a concave h only fall, but those of an irrational h
    are rounded up and may miss that by `slack`.
    """
    _, _, row_start, unit, level, table_start, table, top, slack = problem
    more = 0
    for entry in range(row_start[u], row_start[u + 1]):
        r = unit[entry]
        if amount[r] < top[r]:
            at = table_start[r]
            high = min(top[r], amount[r] + level[entry])
            more += table[at + high] - table[at + amount[r]]
            if upper:
                more += slack[r]
    return more


def cover(problem: Problem, u: int, sign: int, amount: Ints, kept: Ints) -> int:
    """Keep u (sign 1) or let it go (-1); returns its cost.

    Levels are not cut off at the top: then letting go could not give back what was there.
    """
    cost, group, row_start, unit, level = problem[:5]
    kept[group[u]] += sign
    for entry in range(row_start[u], row_start[u + 1]):
        amount[unit[entry]] += sign * level[entry]
    price: int = cost[u]
    return price


def options(
    problem: Problem,
    left: int,
    cap: int,
    status: Ints,
    amount: Ints,
    kept: Ints,
    gain: Ints,
    order: Ints,
) -> int:
    """Lists in `order` the candidates that may still be kept, by gain per cost; returns how many.

    `gain` is 0 for all others. Of equal densities the first in canonical order comes first.
    """
    cost, group = problem[0], problem[1]
    count = 0
    for u in range(cost.shape[0]):
        gain[u] = 0
        if status[u] != 0 or kept[group[u]] >= cap or cost[u] > left:
            continue
        more = gain_of(problem, u, amount, True)
        if more == 0:
            continue
        gain[u] = more
        # Insertion keeps order[:count] sorted. Densities are compared crosswise, so nothing is
        # divided: a candidate that costs nothing is ahead of all that cost something.
        place = count
        while place > 0:
            before = order[place - 1]
            if gain[before] * cost[u] >= more * cost[before]:
                break
            order[place] = before
            place -= 1
        order[place] = u
        count += 1
    return count


def priced(
    problem: Problem,
    value: int,
    left: int,
    cap: int,
    scale: int,
    target: int,
    kept: Ints,
    gain: Ints,
    order: Ints,
    nets: Ints,
) -> tuple[int, int]:
    """A bound on all that a node can reach, times scale, and the price of the budget that gives it.

    Any price >= 0 gives a bound: to pay it instead of obeying the budget can only help, and gains
    only shrink as more is kept. The bound is convex in the price. The search starts from the
    density where the budget would run out if groups had no caps. Above the best price groups take
    less than the budget, below it more, so the interval that holds it is halved until the bound is
    good enough. A bound of -1 stands for none so far.
    """
    cost = problem[0]
    mu, room = 0, left
    for place in range(order.shape[0]):
        u = order[place]
        if cost[u] > room:
            mu = scale * gain[u] // cost[u]
            break
        room -= cost[u]
    low, high, best_mu = 0, mu, mu
    bound, tries = -1, 0
    while True:
        total, taken = taken_at(problem, mu, cap, scale, kept, gain, nets)
        total += scale * value + mu * left
        if bound < 0 or total < bound:
            bound, best_mu = total, mu
        tries += 1
        if bound < target or tries > MOST_TRIES:
            break
        if taken > left:
            low = mu
        else:
            high = mu
        if high - low <= 1:
            break
        mu = (low + high) // 2
    return bound, best_mu


def taken_at(
    problem: Problem, mu: int, cap: int, scale: int, kept: Ints, gain: Ints, nets: Ints
) -> tuple[int, int]:
    """What groups earn at a price with the best candidates they have room for, and what those cost.

    `nets[:free]` has a group's largest profits so far in falling order, `nets[cap:]` their costs.
    Zeros stand for places that stay empty, so nobody is taken at a loss.
    """
    cost, group = problem[0], problem[1]
    total, taken, u, candidates = 0, 0, 0, problem[0].shape[0]
    while u < candidates:
        owner = group[u]
        free = min(cap - kept[owner], cap)
        for i in range(free):
            nets[i] = 0
            nets[cap + i] = 0
        while u < candidates and group[u] == owner:
            if gain[u] > 0:
                net = scale * gain[u] - mu * cost[u]
                i = free - 1
                if i >= 0 and net > nets[i]:
                    while i > 0 and net > nets[i - 1]:
                        nets[i] = nets[i - 1]
                        nets[cap + i] = nets[cap + i - 1]
                        i -= 1
                    nets[i] = net
                    nets[cap + i] = cost[u]
            u += 1
        for i in range(free):
            total += nets[i]
            taken += nets[cap + i]
    return total, taken


def uncovered(problem: Problem, amount: Ints) -> int:
    """What all units would add if they were fully covered: a bound that asks for no candidates.

    Where little is missing it is sharper than the others, which let candidates cover a unit twice.
    The checker finds it with prices of 0 (word ZERO), where every block buys all it wants.
    """
    table_start, table, top = problem[5], problem[6], problem[7]
    rest = 0
    for r in range(top.shape[0]):
        at = table_start[r]
        rest += table[at + top[r]] - table[at + min(top[r], amount[r])]
    return rest


def write_leaf(tape: Ints, used: int, mu: int, saturated: bool) -> int:
    """The proof of a leaf; returns the words used, or -1 where the tape is too short."""
    # Three words are asked for though a saturated leaf has two: when a tape counts as too short
    # decides whether a search is repeated, so it must not depend on the kind of leaf.
    if used < 0 or used + 3 > tape.shape[0]:
        return -1
    tape[used] = ZERO if saturated else MU
    tape[used + 1] = LEAF if saturated else mu
    if saturated:
        return used + 2
    tape[used + 2] = LEAF
    return used + 3

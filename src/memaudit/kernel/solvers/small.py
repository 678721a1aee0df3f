"""Exact search for small problems: depth first over candidates, a fractional bound at each node.

It runs in two ways: as plain Python, so that a first small solve does not wait for a compiler, and
compiled (compiled/batch.py), for many at a time. Both give the same store and the same proof,
because they are the same lines.
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

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
    if cap > 1:
        return keep
    first = 0
    while first < count:
        end = first
        while end < count and group[end] == group[first]:
            end += 1
        for u in range(first, end):
            if not keep[u]:
                continue
            for v in range(first, end):
                if v == u or not keep[v] or cost[v] > cost[u]:
                    continue
                at, stop = row_start[v], row_start[v + 1]
                covers, equal = True, cost[v] == cost[u]
                for entry in range(row_start[u], row_start[u + 1]):
                    r = unit[entry]
                    while at < stop and unit[at] < r:
                        at += 1
                        equal = False
                    if at == stop or unit[at] != r:
                        covers = False
                        break
                    have, need = min(level[at], top[r]), min(level[entry], top[r])
                    if have < need:
                        covers = False
                        break
                    if have > need:
                        equal = False
                    at += 1
                if at < stop:
                    equal = False
                if covers and (not equal or v < u):
                    keep[u] = False
                    break
        first = end
    return keep


def grain(unit: Ints, level: Ints, table_start: Ints, table: Ints, units: int) -> int:
    """A number that divides the value of every store: levels come in multiples of their gcd."""
    step = np.zeros(units, np.int64)
    for entry in range(unit.shape[0]):
        a, b = level[entry], step[unit[entry]]
        while b:
            a, b = b, a % b
        step[unit[entry]] = a
    divisor = 0
    for r in range(units):
        if step[r] == 0:
            continue
        last = table_start[r + 1] - 1
        at = table_start[r]
        while divisor != 1:
            at = min(at + step[r], last)
            a, b = table[at], divisor
            while b:
                a, b = b, a % b
            divisor = a
            if at == last:
                break
    return max(1, divisor)


def small_search(
    cost: Ints,
    group: Ints,
    row_start: Ints,
    unit: Ints,
    level: Ints,
    table_start: Ints,
    table: Ints,
    top: Ints,
    slack: Ints,
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
    """Solve exactly; `status` holds 2 for candidates to leave out, all other arrays are scratch.

    `known` is the value of the store that is already in `store`, or -1 where there is none.

    Returns the best value, the nodes visited, the words of proof written (or -1 when the tape was
    too short) and, times scale, the highest bound still open (0 when the search is complete).
    """
    candidates, units = cost.shape[0], top.shape[0]
    best, value, spent, depth, nodes, used = known, 0, 0, 0, 0, 0
    open_bound = 0
    going_down = True
    while True:
        if going_down:
            nodes += 1
            if value > best:
                best = value
                for u in range(candidates):
                    store[u] = status[u] == 1
            left = budget - spent
            target = scale * (best + grain)
            count = 0
            for u in range(candidates):
                gain[u] = 0
                if status[u] != 0 or kept[group[u]] >= cap or cost[u] > left:
                    continue
                more = 0
                for entry in range(row_start[u], row_start[u + 1]):
                    r = unit[entry]
                    if amount[r] < top[r]:
                        at = table_start[r]
                        high = min(top[r], amount[r] + level[entry])
                        more += table[at + high] - table[at + amount[r]] + slack[r]
                if more == 0:
                    continue
                gain[u] = more
                place = count
                while place > 0:
                    before = order[place - 1]
                    if gain[before] * cost[u] >= more * cost[before]:
                        break
                    order[place] = before
                    place -= 1
                order[place] = u
                count += 1
            mu, room = 0, left
            for place in range(count):
                u = order[place]
                if cost[u] > room:
                    mu = scale * gain[u] // cost[u]
                    break
                room -= cost[u]
            # Any mu >= 0 gives a bound. Start from the density where the budget would run out if
            # groups had no caps, then halve the interval that holds the best one.
            low, high, best_mu = 0, mu, mu
            bound, tries = -1, 0
            while True:
                total, taken, u = scale * value + mu * left, 0, 0
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
            mu = best_mu
            saturated = 0
            if bound >= target:
                rest = value
                for r in range(units):
                    at = table_start[r]
                    rest += table[at + top[r]] - table[at + min(top[r], amount[r])]
                if scale * rest < target:
                    saturated = 1
            if bound < target or saturated == 1 or count == 0:
                if used >= 0:
                    if used + 3 > tape.shape[0]:
                        used = -1
                    elif saturated == 1:
                        tape[used] = 5
                        tape[used + 1] = 0
                        used += 2
                    else:
                        tape[used] = 2
                        tape[used + 1] = mu
                        tape[used + 2] = 0
                        used += 3
                going_down = False
                continue
            if nodes >= most_nodes:
                open_bound = bound
                for i in range(depth):
                    if branch[i] >= 0:
                        open_bound = max(open_bound, won[candidates + i])
                break
            u = order[0]
            if used >= 0:
                if used + 2 > tape.shape[0]:
                    used = -1
                else:
                    tape[used] = 1
                    tape[used + 1] = u
                    used += 2
            branch[depth] = u
            won[depth] = value
            won[candidates + depth] = bound
            depth += 1
            status[u] = 1
            kept[group[u]] += 1
            spent += cost[u]
            for entry in range(row_start[u], row_start[u + 1]):
                r = unit[entry]
                at = table_start[r]
                value -= table[at + min(top[r], amount[r])]
                amount[r] += level[entry]
                value += table[at + min(top[r], amount[r])]
        else:
            while depth > 0 and branch[depth - 1] < 0:
                depth -= 1
                status[-1 - branch[depth]] = 0
            if depth == 0:
                break
            u = branch[depth - 1]
            branch[depth - 1] = -1 - u
            value = won[depth - 1]
            status[u] = 2
            kept[group[u]] -= 1
            spent -= cost[u]
            for entry in range(row_start[u], row_start[u + 1]):
                amount[unit[entry]] -= level[entry]
            going_down = True
    return best, nodes, used, open_bound

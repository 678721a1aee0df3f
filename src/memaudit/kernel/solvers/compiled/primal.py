"""Good stores quickly: lazy density greedy, completion of partial stores, one-for-one swaps."""

import numpy as np
from numba import njit
from numba.core.extending import register_jitable

from memaudit.kernel.solvers.compiled.types import Core, Flags, Floats, Ints

FEW = 5
"""So many candidates and one more are dropped at most when a store is shaken."""


@njit(cache=True)
def _gain(
    rows: Ints,
    units: Ints,
    levels: Ints,
    starts: Ints,
    table: Ints,
    tops: Ints,
    covered: Ints,
    u: int,
) -> int:
    """What candidate u adds to units that stand at `covered`."""
    gain = 0
    for entry in range(rows[u], rows[u + 1]):
        r = units[entry]
        room = tops[r] - covered[r]
        if room > 0:
            at = starts[r] + covered[r]
            gain += table[at + min(levels[entry], room)] - table[at]
    return gain


@njit(cache=True)
def store_value(core: Core, chosen: Flags, covered: Ints, amount: Ints) -> tuple[int, int]:
    """Value and cost of a store; leaves the units' levels, clipped and in full."""
    amount.fill(0)
    cost = 0
    for u in range(core.cost.shape[0]):
        if chosen[u]:
            cost += core.cost[u]
            for entry in range(core.row_start[u], core.row_start[u + 1]):
                amount[core.unit[entry]] += core.level[entry]
    value = 0
    for r in range(core.top.shape[0]):
        covered[r] = min(amount[r], core.top[r])
        value += core.table[core.table_start[r] + covered[r]]
    return value, cost


@njit(cache=True)
def _drop_loss(core: Core, amount: Ints, u: int) -> int:
    loss = 0
    for entry in range(core.row_start[u], core.row_start[u + 1]):
        r = core.unit[entry]
        at = core.table_start[r]
        loss += core.table[at + min(core.top[r], amount[r])]
        loss -= core.table[at + min(core.top[r], amount[r] - core.level[entry])]
    return loss


@njit(cache=True)
def make_feasible(core: Core, chosen: Flags, budget: int, covered: Ints, amount: Ints) -> None:
    """Drop what is worth least per cost until group caps and budget hold."""
    kept = np.zeros(core.room.shape[0], np.int64)
    for u in range(core.cost.shape[0]):
        if chosen[u]:
            kept[core.group[u]] += 1
            if kept[core.group[u]] > core.room[core.group[u]]:
                chosen[u] = False
    _, cost = store_value(core, chosen, covered, amount)
    # Losses change as candidates go, so the worst is looked for anew each time; few have to go.
    while cost > budget:
        worst, rate = -1, np.inf
        for u in range(core.cost.shape[0]):
            if chosen[u] and core.cost[u] > 0:
                loss = _drop_loss(core, amount, u) / core.cost[u]
                if loss < rate:
                    worst, rate = u, loss
        chosen[worst] = False
        cost -= core.cost[worst]
        for entry in range(core.row_start[worst], core.row_start[worst + 1]):
            amount[core.unit[entry]] -= core.level[entry]


@register_jitable
def _before(u: int, v: int, key: Floats) -> bool:
    return key[u] > key[v] or (key[u] == key[v] and u < v)


@njit(cache=True)
def _sift(heap: Ints, key: Floats, at: int, size: int) -> None:
    """Let heap[at] sink to its place; of equal keys the earlier candidate is on top."""
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(heap[child + 1], heap[child], key):
            child += 1
        if not _before(heap[child], heap[at], key):
            break
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@njit(cache=True)
def fill(core: Core, chosen: Flags, budget: int, covered: Ints, amount: Ints) -> int:
    """Complete a feasible store by marginal density, lazily; returns its value."""
    rows, units, levels = core.row_start, core.unit, core.level
    starts, table, tops = core.table_start, core.table, core.top
    costs, groups, rooms = core.cost, core.group, core.room
    value, cost = store_value(core, chosen, covered, amount)
    left = budget - cost
    count = costs.shape[0]
    kept = np.zeros(core.room.shape[0], np.int64)
    key = np.zeros(count)
    for u in range(count):
        if chosen[u]:
            kept[groups[u]] += 1
        else:
            # Free candidates come first. Floating point only orders them: gains and values stay
            # whole.
            key[u] = _gain(rows, units, levels, starts, table, tops, covered, u) / max(
                costs[u], 1e-9
            )
    heap = np.arange(count)
    for at in range(count // 2, -1, -1):
        _sift(heap, key, at, count)
    size = count
    while size > 0:
        u = heap[0]
        drop = chosen[u] or kept[groups[u]] >= rooms[groups[u]] or costs[u] > left
        if not drop:
            gain = _gain(rows, units, levels, starts, table, tops, covered, u)
            rate = gain / max(costs[u], 1e-9)
            if gain <= 0:
                drop = True
            # Gains only fall, so a key is an upper bound: if it is still right, nobody else's is
            # higher. Otherwise it is corrected and sinks.
            elif rate >= key[u]:
                chosen[u] = True
                kept[groups[u]] += 1
                left -= costs[u]
                value += gain
                for entry in range(rows[u], rows[u + 1]):
                    r = units[entry]
                    covered[r] = min(tops[r], covered[r] + levels[entry])
                drop = True
            else:
                key[u] = rate
        if drop:
            size -= 1
            heap[0] = heap[size]
        _sift(heap, key, 0, size)
    return value


@njit(cache=True)
def swap(core: Core, chosen: Flags, budget: int, passes: int, covered: Ints, amount: Ints) -> int:
    """Replace one candidate by a better or equal but cheaper one until nothing improves."""
    rows, units, levels = core.row_start, core.unit, core.level
    starts, table, tops = core.table_start, core.table, core.top
    costs, groups, rooms = core.cost, core.group, core.room
    value, cost = store_value(core, chosen, covered, amount)
    kept = np.zeros(core.room.shape[0], np.int64)
    for u in range(costs.shape[0]):
        if chosen[u]:
            kept[groups[u]] += 1
    for _ in range(passes):
        improved = False
        # -1 drops nobody: a candidate may just fit after other swaps.
        for out in range(-1, costs.shape[0]):
            loss, freed = 0, 0
            if out >= 0:
                if not chosen[out]:
                    continue
                loss, freed = _drop_loss(core, amount, out), costs[out]
                chosen[out] = False
                kept[groups[out]] -= 1
                for entry in range(rows[out], rows[out + 1]):
                    r = units[entry]
                    amount[r] -= levels[entry]
                    covered[r] = min(tops[r], amount[r])
            best, best_gain, best_cost = -1, loss, freed
            for u in range(costs.shape[0]):
                if u == out or chosen[u] or kept[groups[u]] >= rooms[groups[u]]:
                    continue
                if cost - freed + costs[u] > budget:
                    continue
                gain = _gain(rows, units, levels, starts, table, tops, covered, u)
                # Equal value at less cost counts as better, or budget would never come free for the
                # next.
                if gain > best_gain or (gain == best_gain > 0 and costs[u] < best_cost):
                    best, best_gain, best_cost = u, gain, costs[u]
            if best < 0:
                # No better one: put it back, by the lines that put in any other.
                best = out
            else:
                improved = True
            if best >= 0:
                chosen[best] = True
                kept[groups[best]] += 1
                cost += costs[best] - freed
                value += best_gain - loss
                for entry in range(rows[best], rows[best + 1]):
                    r = units[entry]
                    amount[r] += levels[entry]
                    covered[r] = min(tops[r], amount[r])
        if not improved:
            break
    return value


@njit(cache=True, nogil=True)
def improve(
    core: Core, chosen: Flags, budget: int, passes: int, covered: Ints, amount: Ints
) -> int:
    """Repair, complete and polish a store; returns its value."""
    make_feasible(core, chosen, budget, covered, amount)
    value = fill(core, chosen, budget, covered, amount)
    if passes > 0:
        value = swap(core, chosen, budget, passes, covered, amount)
    return value


@njit(cache=True, nogil=True)
def shake(core: Core, chosen: Flags, budget: int, tries: int, covered: Ints, amount: Ints) -> int:
    """Drop a few candidates of a store, at random, and complete it again; keep what is no worse."""
    value, _ = store_value(core, chosen, covered, amount)
    members, trial = np.nonzero(chosen)[0], chosen.copy()
    # A fixed seed: the store must be the same on every machine and with any number of threads.
    seed = 88172645463325252 + tries
    for _ in range(tries if members.shape[0] else 0):
        for u in range(chosen.shape[0]):
            trial[u] = chosen[u]
        for _ in range(2 + (seed >> 20) % FEW):
            seed ^= seed << 13
            seed ^= seed >> 7
            seed ^= seed << 17
            trial[members[(seed >> 11) % members.shape[0]]] = False
        found = swap(core, trial, budget, 1, covered, amount)
        found = max(found, fill(core, trial, budget, covered, amount))
        # No worse is enough: sideways moves leave plateaus, and nothing is lost.
        if found >= value:
            value = found
            for u in range(chosen.shape[0]):
                chosen[u] = trial[u]
            members = np.nonzero(chosen)[0]
    return value


@njit(cache=True)
def drop_waste(core: Core, chosen: Flags, covered: Ints, amount: Ints) -> tuple[int, int]:
    """Drop what adds nothing, the dearest first; value and cost of what stays."""
    store_value(core, chosen, covered, amount)
    # The same order as `without_waste`, so both drop the same candidates.
    for u in np.argsort(-core.cost, kind="mergesort"):
        if chosen[u] and _drop_loss(core, amount, u) == 0:
            chosen[u] = False
            for entry in range(core.row_start[u], core.row_start[u + 1]):
                amount[core.unit[entry]] -= core.level[entry]
    return store_value(core, chosen, covered, amount)

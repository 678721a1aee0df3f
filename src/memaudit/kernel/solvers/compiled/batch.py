"""Many small problems in one compiled call."""

import numpy as np
from numba import njit

from memaudit.kernel.solvers.compiled.problem import grain, small_search, useful
from memaudit.kernel.solvers.compiled.types import Flags, Ints


@njit(cache=True)
def batch(
    cost: Ints,
    group: Ints,
    row_start: Ints,
    unit: Ints,
    level: Ints,
    table_start: Ints,
    table: Ints,
    slack: Ints,
    candidate_at: Ints,
    entry_at: Ints,
    unit_at: Ints,
    table_at: Ints,
    budget: Ints,
    cap: Ints,
    scale: int,
    most_nodes: int,
    tape_words: int,
    store: Flags,
    value: Ints,
    nodes: Ints,
    tapes: Ints,
    tape_used: Ints,
    open_bound: Ints,
) -> None:
    """Solve each problem of a concatenation; results go into the last six arrays.

    Row and table starts are those of each problem alone, with their closing entry.
    """
    problems = budget.shape[0]
    widest = np.diff(candidate_at).max() + 1
    status = np.zeros(widest, np.int64)
    gain = np.zeros(widest, np.int64)
    order = np.zeros(widest, np.int64)
    branch = np.zeros(widest, np.int64)
    won = np.zeros(2 * widest, np.int64)
    kept = np.zeros(widest, np.int64)
    amount = np.zeros(np.diff(unit_at).max() + 1, np.int64)
    top = np.zeros(np.diff(unit_at).max() + 1, np.int64)
    nets = np.zeros(2 * cap.max(), np.int64)
    for i in range(problems):
        first, last = candidate_at[i], candidate_at[i + 1]
        count, units = last - first, unit_at[i + 1] - unit_at[i]
        rows = row_start[first + i : last + i + 1]
        starts = table_start[unit_at[i] + i : unit_at[i + 1] + i + 1]
        for r in range(units):
            top[r] = starts[r + 1] - starts[r] - 1
            amount[r] = 0
        costs, groups = cost[first:last], group[first:last]
        entries = slice(entry_at[i], entry_at[i + 1])
        good = useful(
            costs, groups, rows, unit[entries], level[entries], top[:units], budget[i], cap[i]
        )
        for u in range(count):
            status[u] = 0 if good[u] else 2
            kept[u] = 0
        values = table[table_at[i] : table_at[i + 1]]
        step = grain(unit[entries], level[entries], starts, values, units)
        value[i], nodes[i], tape_used[i], open_bound[i] = small_search(
            (
                costs,
                groups,
                rows,
                unit[entries],
                level[entries],
                starts,
                values,
                top[:units],
                slack[unit_at[i] : unit_at[i + 1]],
            ),
            budget[i],
            cap[i],
            scale,
            step,
            -1,
            most_nodes,
            status[:count],
            store[first:last],
            amount,
            kept,
            gain,
            order,
            branch,
            won,
            nets,
            tapes[i * tape_words : (i + 1) * tape_words],
        )

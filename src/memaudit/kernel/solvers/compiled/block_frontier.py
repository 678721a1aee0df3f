"""OPT for every budget at once: each block's graph with costs, merged over the budget."""

import numpy as np
from numba import njit

from memaudit.kernel.solvers.compiled.types import Core, Ints, Layout, copy_into

MOST_CELLS = 1 << 26
"""A layer with more states times budgets than this is left to solving budget by budget."""


@njit(cache=True)
def _block_frontier(core: Core, layout: Layout, b: int, reach: int) -> Ints:
    """Per cost up to `reach`, the block's best value, or an empty array when too large."""
    none = np.empty(0, np.int64)
    width = reach + 1
    states = np.full((1, width), -1, np.int64)
    states[0, 0] = 0
    start = layout.block_node[b]
    for layer in range(layout.block_layer[b], layout.block_layer[b + 1]):
        first, last = layout.layer_edge[layer], layout.layer_edge[layer + 1]
        after = start + states.shape[0]
        end = after
        for edge in range(first, last):
            end = max(end, layout.edge_target[edge] + 1)
        if (end - after) * width > MOST_CELLS:
            return none
        following = np.full((end - after, width), -1, np.int64)
        for edge in range(first, last):
            source = layout.edge_source[edge] - start
            target = layout.edge_target[edge] - after
            gain = layout.edge_gain[edge]
            u = layout.option_candidate[layout.edge_option[edge]]
            cost = 0 if u < 0 else core.cost[u]
            for at in range(width - cost):
                if states[source, at] >= 0:
                    value = states[source, at] + gain
                    if value > following[target, at + cost]:
                        following[target, at + cost] = value
        states, start = following, after
    best = states[0]
    for at in range(1, width):
        best[at] = max(best[at], best[at - 1])
    return best


@njit(cache=True)
def component_frontier(core: Core, layout: Layout, budget: int) -> Ints:
    """The best value for every cost 0..budget, or an empty array when a block is too large."""
    total = np.zeros(budget + 1, np.int64)
    merged = np.zeros(budget + 1, np.int64)
    for b in range(layout.block_layer.shape[0] - 1):
        reach = 0
        for layer in range(layout.block_layer[b], layout.block_layer[b + 1]):
            highest = 0
            for o in range(layout.layer_option[layer], layout.layer_option[layer + 1]):
                u = layout.option_candidate[o]
                if u >= 0:
                    highest = max(highest, core.cost[u])
            reach += highest
        block = _block_frontier(core, layout, b, min(reach, budget))
        if block.shape[0] == 0:
            return block
        copy_into(merged, total)
        for cost in range(1, block.shape[0]):
            gain = block[cost]
            if gain > block[cost - 1]:
                for at in range(budget - cost + 1):
                    value = total[at] + gain
                    if value > merged[at + cost]:
                        merged[at + cost] = value
        if block[0] > 0:
            for at in range(budget + 1):
                merged[at] = max(merged[at], total[at] + block[0])
        total, merged = merged, total
    return total

"""Whether another store could be the true optimum, where h is irrational and values are rounded."""

from memaudit.solvers.form import Form
from memaudit.solvers.protocol import Limits
from memaudit.solvers.tree import Q, Tree

MOST_NODES = 20_000


def near_ties(form: Form, chosen: tuple[int, ...], limits: Limits) -> bool | None:
    """Whether a store that covers differently may be worth more; None where the search gave up.

    Covering the same means the same exact value on units with a rational h and the same coverage
    on the others: such stores are worth the same, whatever the precision.
    """
    tree, low, nodes = Tree(form, range(len(form.rows))), form.low(chosen), 0
    most_nodes = MOST_NODES if limits.nodes is None else limits.nodes
    amounts = form.cover(chosen)
    target = _signature(form, [amounts.get(unit, 0) for unit in range(len(form.levels))])
    while nodes < most_nodes and not limits.expired:
        nodes += 1
        if tree.value > low and _signature(form, tree.level) != target:
            return True
        options = tree.options()
        mu = tree.break_multiplier(options)
        bound = min(tree.bound(options, mu), tree.bound(options, 0))
        if options and bound > Q * low:
            tree.descend(tree.densest(options), bound, mu)
        elif not tree.backtrack():
            return False
    return None


def _signature(form: Form, amounts: list[int]) -> list[int]:
    """Per unit, the value where it is exact and the coverage level where it is rounded."""
    return [
        level.value(amount) if level.response.is_rational else amount
        for level, amount in zip(form.levels, amounts, strict=True)
    ]

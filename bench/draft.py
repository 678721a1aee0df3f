"""A benchmark problem while it is being drawn, and as the solvers get it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np

from memaudit.solvers.packed import Ints, Packed

Row = tuple[int, dict[int, int]]
"""A candidate: its cost, and the coverage level it gives to each unit."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One benchmark problem with a name that says how to draw it again."""

    name: str
    packed: Packed

    def at(self, name: str, budget: int) -> "Instance":
        """The same problem at another budget."""
        return Instance(name, replace(self.packed, budget=budget))


@dataclass(slots=True)
class Draft:
    """Groups of candidates and weighted units; coverage counts in `steps` levels up to full."""

    steps: int
    weights: list[int] = field(default_factory=list)
    groups: list[list[Row]] = field(default_factory=list)

    def packed(self, budget: int) -> Packed:
        """The arrays; unit r is worth weight * level. Unweighted units stay in, worth nothing."""
        rows = [row for group in self.groups for row in group]
        owners = [index for index, group in enumerate(self.groups) for _ in group]
        cells = [sorted(levels.items()) for _, levels in rows]
        levels = self.steps + 1
        return Packed(
            cost=_ints([cost for cost, _ in rows]),
            group=_ints(owners),
            row_start=_ints([0, *accumulate(len(row) for row in cells)]),
            unit=_ints([unit for row in cells for unit, _ in row]),
            level=_ints([level for row in cells for _, level in row]),
            table_start=_ints(range(0, levels * len(self.weights) + 1, levels)),
            table=_ints([weight * level for weight in self.weights for level in range(levels)]),
            budget=budget,
            group_cap=1,
        )


def _ints(numbers: Sequence[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)

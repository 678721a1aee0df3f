"""A benchmark problem: while it is drawn, as the solvers get it, and as a real package."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from memaudit.kernel.package.cost import DECLARED
from memaudit.kernel.package.package import Candidate, Coverage, EvidenceUnit, Experience, Package
from memaudit.kernel.solvers.form import integer_form
from memaudit.kernel.solvers.packed import Ints, Packed

Row = tuple[int, dict[int, int]]
"""A candidate: its cost, and the coverage level it gives to each unit."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One benchmark problem with a name that says how to draw it again."""

    name: str
    packed: Packed
    package: Package | None = None
    """Where it comes from, if it was not drawn."""

    @property
    def scale(self) -> int:
        """The value of a store in the arrays, divided by its value in the package."""
        if self.package is not None:
            return integer_form(self.package).value_scale
        return int(self.packed.tops[0])

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


def as_package(instance: Instance) -> Package:
    """The same problem with ids and fractions: its value is the arrays' value / scale."""
    if instance.package is not None:
        return instance.package
    packed = instance.packed
    tops = packed.tops.tolist()
    experiences = [
        Experience(id=f"e{group:05}", index=group) for group in sorted(set(packed.group.tolist()))
    ]
    candidates = [
        Candidate(id=f"c{index:06}", experience=f"e{group:05}", kind="memory", cost=Fraction(cost))
        for index, (group, cost) in enumerate(
            zip(packed.group.tolist(), packed.cost.tolist(), strict=True)
        )
    ]
    units = [
        EvidenceUnit(id=f"u{unit:05}", kind="fact", weight=Fraction(int(packed.table[start + 1])))
        for unit, start in enumerate(packed.table_start[:-1].tolist())
    ]
    levels, touched = packed.level.tolist(), packed.unit.tolist()
    coverage = [
        Coverage(
            candidate=f"c{index:06}",
            unit=f"u{touched[cell]:05}",
            value=Fraction(levels[cell], tops[touched[cell]]),
        )
        for index, (start, end) in enumerate(pairwise(packed.row_start.tolist()))
        for cell in range(start, end)
    ]
    return Package(
        name=f"bench {instance.name}",
        experiences=tuple(experiences),
        candidates=tuple(candidates),
        units=tuple(units),
        coverage=tuple(coverage),
        group_cap=packed.group_cap,
        cost_rule=DECLARED,
        budgets=(Fraction(packed.budget),),
    )

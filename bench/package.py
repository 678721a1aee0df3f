"""A benchmark problem as a real package, so that whole paths can be timed and checked."""

from fractions import Fraction
from itertools import pairwise

from bench.draft import Instance
from memaudit.core.cost import DECLARED
from memaudit.core.package import Candidate, Coverage, EvidenceUnit, Experience, Package


def as_package(instance: Instance) -> Package:
    """The same problem with ids and fractions: its value is the arrays' value / steps."""
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

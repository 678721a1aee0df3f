"""A store: the candidates that were kept, and whether a package allows it."""

from collections import Counter
from collections.abc import Collection
from fractions import Fraction

from memaudit.core.exact import plain
from memaudit.core.package import Package


def violations(
    package: Package, store: Collection[str], budget: Fraction, group_cap: int
) -> list[str]:
    """What makes a store infeasible, in words; empty when it is feasible (paper, eq. 1)."""
    found = [f"unknown candidate {id!r}" for id in sorted(set(store) - package.candidate.keys())]
    if found:
        return found
    if len(set(store)) != len(store):
        found.append("a candidate is kept twice")
    cost = package.total_cost(store)
    if cost > budget:
        found.append(f"cost {plain(cost)} exceeds the budget {plain(budget)}")
    kept = Counter(package.candidate[id].experience for id in store)
    found += [
        f"experience {experience!r} keeps {count} candidates, at most {group_cap} allowed"
        for experience, count in sorted(kept.items())
        if count > group_cap
    ]
    return found

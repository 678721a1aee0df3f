"""What a store is worth, F(X) of the paper's eq. 2, and whether a package allows it."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import Enclosure, plain
from memaudit.kernel.package.package import Package


def covered(package: Package, store: Iterable[str]) -> dict[str, Fraction]:
    """Per unit, the summed coverage of the store's candidates."""
    chosen = set(store)
    if unknown := sorted(chosen - package.candidate.keys()):
        raise MemAuditError(f"the store names the unknown candidate {unknown[0]!r}")
    amounts = {unit.id: Fraction(0) for unit in package.units}
    for cell in package.coverage:
        if cell.candidate in chosen:
            amounts[cell.unit] += cell.value
    return amounts


def worth(package: Package, amounts: Mapping[str, Fraction]) -> Enclosure:
    """The value of covering the units by these amounts."""
    total = Enclosure(Fraction(0), Fraction(0))
    for unit in package.units:
        weight = package.weights[unit.id]
        if weight and amounts[unit.id]:
            total += unit.response.at(amounts[unit.id]).times(weight)
    return total


def value(package: Package, store: Iterable[str]) -> Enclosure:
    """F(store); a point unless some h is irrational."""
    return worth(package, covered(package, store))


def assumed_share(package: Package, store: Iterable[str]) -> Fraction:
    """The share of a store's value that is lost if assumed cells are 0; 0 if it has no value."""
    if package.without_assumed_cells is package:
        return Fraction(0)
    kept = list(store)
    total = value(package, kept).low
    return 1 - value(package.without_assumed_cells, kept).low / total if total else total


def violations(
    package: Package, store: Collection[str], budget: Fraction, group_cap: int
) -> list[str]:
    """What makes a store infeasible, in words; empty when it is feasible (paper, eq. 1)."""
    chosen = set(store)
    unknown = sorted(chosen - package.candidate.keys())
    if unknown:
        return [f"unknown candidate {id!r}" for id in unknown]
    # All that is wrong, not the first: this is what a person reads who wrote the store by hand.
    broken = ["a candidate is kept twice"] if len(chosen) != len(store) else []
    cost = package.total_cost(store)
    if cost > budget:
        broken.append(f"cost {plain(cost)} exceeds the budget {plain(budget)}")
    kept = Counter(package.candidate[id].experience for id in store)
    broken += [
        f"experience {experience!r} keeps {count} candidates, at most {group_cap} allowed"
        for experience, count in sorted(kept.items())
        if count > group_cap
    ]
    broken += [
        f"{whole!r} is kept together with its part {part!r}"
        for whole in sorted(chosen)
        for part in sorted(chosen.intersection(package.candidate[whole].parts))
    ]
    return broken

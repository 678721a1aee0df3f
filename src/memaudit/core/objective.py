"""F(X), exactly: the weighted, concave coverage of the units by a store (paper, eq. 2)."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Enclosure
from memaudit.core.package import Package


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

"""A store compared with OPT: kept by both, missed, kept instead, what adds nothing, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.package.objective import worth
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.solvers.tie_breaking import canonical_order

Cells = Mapping[str, Mapping[str, Fraction]]
"""Per candidate, the units it covers and how much of each."""


def cells_by_candidate(package: Package) -> dict[str, dict[str, Fraction]]:
    """The coverage of a package, without the cells that are 0."""
    cells: dict[str, dict[str, Fraction]] = {id: {} for id in package.candidate}
    for cell in package.coverage:
        if cell.value:
            cells[cell.candidate][cell.unit] = cell.value
    return cells


@dataclass(frozen=True, slots=True)
class StoreItem:
    """One memory of a store: a candidate of the package, or a system's own."""

    id: str
    text: str
    kind: str
    cost: Fraction
    cells: Mapping[str, Fraction]
    is_candidate: bool = False


@dataclass(frozen=True, slots=True)
class ComparableStore:
    """A store and what its memories cover. `failed` says why there is none."""

    label: str
    items: tuple[StoreItem, ...] = ()
    failed: str = ""
    is_estimate: bool = False
    notes: tuple[str, ...] = ()
    """What its value does not include: rows that were not read, memories left out."""

    @property
    def cost(self) -> Fraction:
        return sum((item.cost for item in self.items), Fraction(0))

    def amounts(self, package: Package) -> dict[str, Fraction]:
        """Per unit, the summed coverage."""
        amounts = {unit.id: Fraction(0) for unit in package.units}
        for item in self.items:
            for unit, value in item.cells.items():
                amounts[unit] += value
        return amounts

    def value(self, package: Package) -> Fraction:
        """F of the store. The lower end of its interval if some h is irrational."""
        return worth(package, self.amounts(package)).low


def candidate_store(
    package: Package, cells: Cells, label: str, store: Sequence[str], failed: str = ""
) -> ComparableStore:
    """A store of the package's candidates, in the order given."""
    candidates = (package.candidate[id] for id in store)
    items = tuple(
        StoreItem(
            candidate.id, candidate.text, candidate.kind, candidate.cost, cells[candidate.id], True
        )
        for candidate in candidates
    )
    return ComparableStore(label, items, failed)


@dataclass(frozen=True, slots=True)
class UnitChange:
    """A unit that is worth more in one store than in the other; `change` is other minus OPT."""

    unit: EvidenceUnit
    weight: Fraction
    by_opt: Fraction
    by_other: Fraction
    change: Fraction


@dataclass(frozen=True, slots=True)
class StoreComparison:
    """OPT and another store. `wasted` are the other's memories that could go without loss."""

    both: tuple[StoreItem, ...]
    missed: tuple[StoreItem, ...]
    instead: tuple[StoreItem, ...]
    wasted: frozenset[str]
    units: tuple[UnitChange, ...]
    value: Fraction
    cost: Fraction

    @property
    def wasted_cost(self) -> Fraction:
        items = (*self.both, *self.instead)
        return sum((item.cost for item in items if item.id in self.wasted), Fraction(0))


def compare(package: Package, best: ComparableStore, other: ComparableStore) -> StoreComparison:
    """Compare another store with OPT's."""
    theirs = {item.id for item in other.items if item.is_candidate}
    ours = {item.id for item in best.items}
    return StoreComparison(
        both=tuple(item for item in best.items if item.id in theirs),
        missed=tuple(item for item in best.items if item.id not in theirs),
        instead=tuple(item for item in other.items if not item.is_candidate or item.id not in ours),
        wasted=_wasted(package, other),
        units=tuple(_unit_changes(package, best, other)),
        value=other.value(package),
        cost=other.cost,
    )


def _wasted(package: Package, store: ComparableStore) -> frozenset[str]:
    """Memories without which the store has the same value, the most expensive removed first.

    Solvers prune their stores by the same rule, so OPT has no such memory.
    """
    amounts = store.amounts(package)
    units = {unit.id: unit for unit in package.units}

    def adds_nothing(unit: str, value: Fraction) -> bool:
        if not package.weights[unit] or not value:
            return True
        h = units[unit].response
        return h.at(amounts[unit]) == h.at(amounts[unit] - value)

    wasted = set()
    place = {candidate.id: at for at, candidate in enumerate(canonical_order(package))}
    listed = enumerate(store.items, start=len(place))  # memories of a system, as they come
    order = sorted(listed, key=lambda item: (-item[1].cost, -place.get(item[1].id, item[0])))
    # Taking one memory away may make another one necessary, so amounts are kept up to date.
    for _, item in order:
        if all(adds_nothing(unit, value) for unit, value in item.cells.items()):
            wasted.add(item.id)
            for unit, value in item.cells.items():
                amounts[unit] -= value
    return frozenset(wasted)


def _unit_changes(
    package: Package, best: ComparableStore, other: ComparableStore
) -> list[UnitChange]:
    """The units on which two stores differ in value, the largest difference first."""
    by_opt, by_other = best.amounts(package), other.amounts(package)
    changes = []
    for unit in package.units:
        weight = package.weights[unit.id]
        before = unit.response.at(by_opt[unit.id]).low * weight
        after = unit.response.at(by_other[unit.id]).low * weight
        if before != after:
            changes.append(
                UnitChange(unit, weight, by_opt[unit.id], by_other[unit.id], after - before)
            )
    return sorted(changes, key=lambda change: (-abs(change.change), change.unit.id))

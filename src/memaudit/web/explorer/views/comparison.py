"""Two stores of one package side by side: kept by both, missed, kept instead, and wasted."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.package import EvidenceUnit
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.views.held import Held, Item


@dataclass(frozen=True, slots=True)
class UnitChange:
    """A unit that is worth more in one store than in the other; `change` is other minus OPT."""

    unit: EvidenceUnit
    weight: Fraction
    by_opt: Fraction
    by_other: Fraction
    change: Fraction


@dataclass(frozen=True, slots=True)
class Comparison:
    """OPT and another store. `wasted` are memories of the other one that could go without loss."""

    both: tuple[Item, ...]
    missed: tuple[Item, ...]
    instead: tuple[Item, ...]
    wasted: frozenset[str]
    units: tuple[UnitChange, ...]
    value: Fraction
    cost: Fraction

    @property
    def wasted_cost(self) -> Fraction:
        items = (*self.both, *self.instead)
        return sum((item.cost for item in items if item.id in self.wasted), Fraction(0))


def compare(opened: Opened, best: Held, other: Held) -> Comparison:
    """The other store against OPT's."""
    theirs = {item.candidate for item in other.items if item.candidate is not None}
    ours = {item.candidate for item in best.items}
    return Comparison(
        both=tuple(item for item in best.items if item.candidate in theirs),
        missed=tuple(item for item in best.items if item.candidate not in theirs),
        instead=tuple(
            item for item in other.items if item.candidate is None or item.candidate not in ours
        ),
        wasted=wasted(opened, other),
        units=tuple(_changes(opened, best, other)),
        value=other.value(opened),
        cost=other.cost,
    )


def wasted(opened: Opened, held: Held) -> frozenset[str]:
    """Memories without which the store is worth the same, the dearest taken out first.

    The rule by which a solver cleans its store, so OPT wastes nothing.
    """
    amounts = {place: Fraction(0) for place in range(len(opened.units))}
    for item in held.items:
        for place, value in item.cells.items():
            amounts[place] += value
    weights = [opened.package.weights[unit.id] for unit in opened.units]
    found = set()
    order = sorted(enumerate(held.items), key=lambda one: (-one[1].cost, -one[0]))
    for _, item in order:
        if all(
            _same(opened, weights, amounts, place, value) for place, value in item.cells.items()
        ):
            found.add(item.id)
            for place, value in item.cells.items():
                amounts[place] -= value
    return frozenset(found)


def _same(
    opened: Opened,
    weights: list[Fraction],
    amounts: Mapping[int, Fraction],
    place: int,
    value: Fraction,
) -> bool:
    """Whether a unit is worth the same without this much of its coverage."""
    if not weights[place] or not value:
        return True
    h = opened.units[place].response
    return h.at(amounts[place]) == h.at(amounts[place] - value)


def _changes(opened: Opened, best: Held, other: Held) -> list[UnitChange]:
    """The units on which two stores differ in value, the largest difference first."""
    by_opt, by_other = best.amounts(opened), other.amounts(opened)
    changes = []
    for unit in opened.units:
        weight = opened.package.weights[unit.id]
        before = unit.response.at(by_opt[unit.id]).low * weight
        after = unit.response.at(by_other[unit.id]).low * weight
        if before != after:
            changes.append(
                UnitChange(unit, weight, by_opt[unit.id], by_other[unit.id], after - before)
            )
    return sorted(changes, key=lambda one: (-abs(one.change), one.unit.id))

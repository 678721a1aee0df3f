"""A store beside OPT: kept by both, missed, kept instead, and wasted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.adapters.store import ExportedStore
from memaudit.core.objective import worth
from memaudit.core.package import EvidenceUnit
from memaudit.scoring.judge import Lexical
from memaudit.scoring.judged_store import judge_store
from memaudit.web.explorer.library.opened_package import Opened


@dataclass(frozen=True, slots=True)
class Item:
    """One memory of a store; `candidate` is its place in the package, None for a system's own."""

    id: str
    text: str
    kind: str
    cost: Fraction
    cells: Mapping[int, Fraction]
    candidate: int | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """What somebody kept. `failed` says why there is nothing; an estimate says so."""

    label: str
    items: tuple[Item, ...] = ()
    failed: str = ""
    is_estimate: bool = False
    notes: tuple[str, ...] = ()
    """What its value does not see: rows that were not read, memories left out."""

    @property
    def cost(self) -> Fraction:
        return sum((item.cost for item in self.items), Fraction(0))

    def amounts(self, opened: Opened) -> dict[str, Fraction]:
        """Per unit, the summed coverage."""
        found = {unit.id: Fraction(0) for unit in opened.units}
        for item in self.items:
            for place, value in item.cells.items():
                found[opened.units[place].id] += value
        return found

    def value(self, opened: Opened) -> Fraction:
        """F of what is held; the lower end where some h is irrational."""
        return worth(opened.package, self.amounts(opened)).low


def candidate_item(opened: Opened, place: int) -> Item:
    """A candidate of the package as a memory."""
    one = opened.candidates[place]
    cells = {unit: cell.value for unit, cell in opened.cells[place]}
    return Item(one.id, one.text, one.kind, one.cost, cells, place)


def of_candidates(opened: Opened, label: str, store: Sequence[str], failed: str = "") -> Held:
    """A store of the package's candidates, in order of arrival."""
    known = [opened.candidate_at[id] for id in store if id in opened.candidate_at]
    return Held(label, tuple(candidate_item(opened, place) for place in sorted(known)), failed)


def of_system(opened: Opened, store: ExportedStore) -> Held:
    """What a system wrote for this package; coverage is guessed from shared words."""
    kept = judge_store(opened.package, store, Lexical())
    items = tuple(
        Item(
            one.id, one.text, "memory", one.cost,
            {opened.unit_at[unit]: cell.value for unit, cell in one.coverage.items()},
        )
        for one in kept.memories
    )  # fmt: skip
    return Held(store.name, items, "", True, tuple(kept.account.lines))


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

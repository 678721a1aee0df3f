"""A store to be held against OPT: candidates of the package, or memories that a system wrote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.adapters.store import ExportedStore
from memaudit.core.objective import worth
from memaudit.scoring.judged_store import written
from memaudit.scoring.judges.lexical import Lexical
from memaudit.web.explorer.library.opened import Opened


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
    kept = written(opened.package, store, Lexical())
    items = tuple(
        Item(
            one.id, one.text, "memory", one.cost,
            {opened.unit_at[unit]: cell.value for unit, cell in one.coverage.items()},
        )
        for one in kept.memories
    )  # fmt: skip
    return Held(store.name, items, "", True, tuple(kept.account.lines))

"""Partial means the core: two memories that keep half of a unit keep the same half.

A judge says of a pair full, partial or none. Added up, two partials would make a whole: "The review
is on Tuesday" and "it has moved" would be worth as much as "it has moved to Thursday". So before
anything is solved every unit becomes two, half of its weight each: `core`, what it is there to
tell, and `rest`. Partial covers the core, full covers both, and every partial covers the same core.
Solvers and checker see a package like any other; numbers by unit are put together again.

Units that have named parts keep those. Units with another h than min(1, z) stay additive: how much
more their h gives to the second half is their own affair.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from memaudit.kernel.exact import Enclosure
from memaudit.kernel.package.package import Coverage, EvidenceUnit, Package
from memaudit.kernel.package.response import CLIPPED
from memaudit.kernel.package.unit_parts import CORE_SHARE, part_id, part_text_of
from memaudit.kernel.score.judge import Cell
from memaudit.kernel.score.priced_store import JudgedStore

CORE, REST = "core", "rest"
WORDS = {CORE: "what it is there to tell", REST: "all else that it says"}


@dataclass(frozen=True, slots=True)
class CoreAndRest:
    """A package whose plain units are two each; `units` are their former ids."""

    package: Package
    units: frozenset[str]

    def store(self, store: JudgedStore) -> JudgedStore:
        """A store judged against the former units, with cells of the new ones."""
        memories = tuple(
            replace(memory, coverage=dict(_cells_of(memory.coverage, self.units)))
            for memory in store.memories
        )
        return replace(store, memories=memories)

    def together(self, values: Mapping[str, Enclosure]) -> dict[str, Enclosure]:
        """Values by former units."""
        former = {part_id(unit, name): unit for unit in self.units for name in WORDS}
        whole: dict[str, Enclosure] = {}
        for id, value in values.items():
            unit = former.get(id, id)
            whole[unit] = whole[unit] + value if unit in whole else value
        return whole


def core_and_rest(package: Package) -> CoreAndRest:
    """The package with two units for each plain one that counts."""
    units = frozenset(
        unit.id
        for unit in package.units
        if package.weights[unit.id] and unit.part_of is None and unit.response == CLIPPED
    )
    if not units:
        return CoreAndRest(package, units)
    split = package.replace(
        units=tuple(part for unit in package.units for part in _units_of(unit, units)),
        queries=tuple(
            query.model_copy(
                update={
                    "required": tuple(
                        id
                        for unit in query.required
                        for id in (_ids(unit) if unit in units else (unit,))
                    )
                }
            )
            for query in package.queries
        ),
        coverage=tuple(row for cell in package.coverage for row in _rows_of(cell, units)),
    )
    return CoreAndRest(split, units)


def _ids(unit: str) -> tuple[str, ...]:
    return tuple(part_id(unit, name) for name in WORDS)


def _units_of(unit: EvidenceUnit, split: Collection[str]) -> Iterator[EvidenceUnit]:
    if unit.id not in split:
        yield unit
        return
    for name, words in WORDS.items():
        share = CORE_SHARE if name == CORE else 1 - CORE_SHARE
        yield unit.model_copy(
            update={
                "id": part_id(unit.id, name),
                "text": part_text_of(unit.text, name, words),
                "alternatives": (),  # whoever judged the whole unit has seen them
                "weight": None if unit.weight is None else unit.weight * share,
                "part_of": unit.id,
                "part": name,
                "share": share,
                "core": name == CORE,
            }
        )


def _halves(value: Fraction) -> tuple[Fraction, Fraction]:
    """Of the core and of the rest: a half is all of the core, beyond it begins the rest."""
    return min(Fraction(1), 2 * value), max(Fraction(0), 2 * value - 1)


def _rows_of(cell: Coverage, split: Collection[str]) -> Iterator[Coverage]:
    if cell.unit not in split:
        yield cell
        return
    most = (None, None) if cell.upper is None else _halves(cell.upper)
    for id, value, upper in zip(_ids(cell.unit), _halves(cell.value), most, strict=True):
        if value or upper:
            yield cell.model_copy(update={"unit": id, "value": value, "upper": upper})


def _cells_of(cells: Mapping[str, Cell], split: Collection[str]) -> Iterator[tuple[str, Cell]]:
    for unit, cell in cells.items():
        if unit not in split:
            yield unit, cell
            continue
        most = (None, None) if cell.upper is None else _halves(cell.upper)
        for id, value, upper in zip(_ids(unit), _halves(cell.value), most, strict=True):
            yield id, replace(cell, value=value, upper=upper)

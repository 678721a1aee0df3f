"""Behind a score: the units that were lost, at which step, and which memory covers what."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.diagnosis import STEPS, Diagnosis
from memaudit.audits.union import Cell, WrittenStore
from memaudit.core.package import EvidenceUnit, Package, Query

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class LostUnit:
    """A unit that is worth less in what a store keeps than in OPT of the common union.

    A part may be negative where a lower stage covers the unit better; the parts add up to `lost`.
    """

    unit: EvidenceUnit
    weight: Fraction
    lost: Fraction
    kept: Fraction
    parts: Mapping[str, Fraction]
    queries: tuple[Query, ...]

    @property
    def step(self) -> str:
        """Where most of it was lost; the earliest of equals."""
        return max(STEPS, key=lambda step: self.parts.get(step, ZERO))


@dataclass(frozen=True, slots=True)
class Covering:
    """A memory, or a candidate of the package, and how much of a unit it holds."""

    store: str | None
    """None for a candidate of the package."""
    id: str
    text: str
    cost: Fraction
    unit: str
    cell: Cell


def lost_units(package: Package, found: Diagnosis) -> list[LostUnit]:
    """Every unit with a loss, the largest first."""
    parts: dict[str, dict[str, Fraction]] = {}
    for step in found.steps:
        for unit, part in step.units:
            parts.setdefault(unit, {})[step.name] = part
    units = {unit.id: unit for unit in package.units}
    lost = [
        LostUnit(
            unit=units[id],
            weight=package.weights[id],
            lost=sum(by_step.values(), ZERO),
            kept=found.kept_units.get(id, ZERO),
            parts=by_step,
            queries=tuple(query for query in package.queries if id in query.required),
        )
        for id, by_step in parts.items()
        if sum(by_step.values(), ZERO) > 0
    ]
    return sorted(lost, key=lambda one: (-one.lost, one.unit.id))


def coverings(store: WrittenStore) -> list[Covering]:
    """Every cell of a store that is not 0, in the order of writing."""
    return [
        Covering(store.name, memory.id, memory.text, memory.cost, unit, cell)
        for memory in store.memories
        for unit, cell in sorted(memory.coverage.items())
        if cell.value
    ]


def candidate_coverings(package: Package, unit: str) -> list[Covering]:
    """What the package's own candidates hold of a unit."""
    found = []
    for row in package.coverage:
        if row.unit == unit and row.value:
            candidate = package.candidate[row.candidate]
            cell = Cell(row.value, row.provenance or "", row.rationale or "")
            found.append(Covering(None, candidate.id, candidate.text, candidate.cost, unit, cell))
    return found

"""Behind a score: the units that were lost, at which step, and which memory covers what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.package import EvidenceUnit, Package, Query
from memaudit.scoring.diagnosis import STEPS, Diagnosis
from memaudit.scoring.package_scores import Sheet, SheetRow
from memaudit.scoring.union import Cell, WrittenMemory, WrittenStore

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


DIGITS = 9


def cells_data(found: Sheet) -> dict[str, list[dict[str, Any]]]:
    """By store, every cell that is not 0."""
    return {store.name: [_covering(one) for one in coverings(store)] for store in found.stores}


def lost_data(found: Sheet, row: SheetRow) -> list[dict[str, Any]]:
    """Every unit a store lost at a budget; none where there is no diagnosis."""
    if not isinstance(row.diagnosis, Diagnosis):
        return []
    return [_lost(one) for one in lost_units(found.package, row.diagnosis)]


def explained(id: str, found: Sheet) -> dict[str, Any]:
    """A unit of the package, and memories of that id; memories also by their store's name before
    it. An error where nothing is called so."""
    units = [unit for unit in found.package.units if unit.id == id]
    memories = [
        (store, memory)
        for store in found.stores
        for memory in store.memories
        if id in (memory.id, store.candidate_id(memory))
    ]
    if not units and not memories:
        raise MemAuditError(
            f"nothing is called {id!r} in {found.package.name!r} and its stores; give the id of a "
            "unit or of a memory, as --show-cells lists them"
        )
    return {
        "id": id,
        "unit": _unit(units[0], found) if units else None,
        "memories": [_memory(store, memory, found) for store, memory in memories],
    }


def _unit(unit: EvidenceUnit, found: Sheet) -> dict[str, Any]:
    package = found.package
    held = [one for store in found.stores for one in coverings(store) if one.unit == unit.id]
    return {
        "kind": unit.kind,
        "text": unit.text,
        "weight": _number(package.weights[unit.id]),
        "queries": _queries(query for query in package.queries if unit.id in query.required),
        "memories": [_covering(one) for one in held],
        "candidates": [_covering(one) for one in candidate_coverings(package, unit.id)],
        "scores": [_fate(unit.id, row) for row in found.rows],
    }


def _fate(unit: str, row: SheetRow) -> dict[str, Any]:
    """What became of a unit in one store at one budget."""
    head: dict[str, Any] = {"store": row.score.name, "budget": plain(row.score.budget)}
    if not isinstance(row.diagnosis, Diagnosis):
        return {**head, "kept": None, "parts": None}
    parts = {
        step.name: _number(part)
        for step in row.diagnosis.steps
        for name, part in step.units
        if name == unit
    }
    kept = row.diagnosis.kept_units.get(unit, Fraction(0))
    return {**head, "kept": _number(kept), "parts": parts}


def _memory(store: WrittenStore, memory: WrittenMemory, found: Sheet) -> dict[str, Any]:
    id = store.candidate_id(memory)
    texts = {unit.id: unit.text for unit in found.package.units}
    rows = [row for row in found.rows if row.score.name == store.name]
    return {
        "store": store.name,
        "memory": memory.id,
        "text": memory.text,
        "cost": plain(memory.cost),
        "cells": [
            {
                "unit": unit, "unit_text": texts[unit], "value": plain(cell.value),
                "provenance": cell.provenance, "rationale": cell.rationale,
            }
            for unit, cell in sorted(memory.coverage.items())
        ],
        "scores": [
            {
                "budget": plain(row.score.budget),
                "in_best_subset": id in row.score.upper.store,
                "kept": id in row.diagnosis.kept if isinstance(row.diagnosis, Diagnosis) else None,
            }
            for row in rows
        ],
    }  # fmt: skip


def _lost(one: LostUnit) -> dict[str, Any]:
    return {
        "unit": one.unit.id,
        "kind": one.unit.kind,
        "text": one.unit.text,
        "weight": _number(one.weight),
        "lost": _number(one.lost),
        "kept": _number(one.kept),
        "step": one.step,
        "parts": {step: _number(part) for step, part in one.parts.items()},
        "queries": _queries(one.queries),
    }


def _queries(queries: Iterable[Query]) -> list[dict[str, str]]:
    return [{"id": query.id, "text": query.text} for query in queries]


def _covering(one: Covering) -> dict[str, Any]:
    return {
        "store": one.store,
        "id": one.id,
        "text": one.text,
        "cost": plain(one.cost),
        "unit": one.unit,
        "value": plain(one.cell.value),
        "provenance": one.cell.provenance,
        "rationale": one.cell.rationale,
    }


def _number(number: Fraction) -> float:
    return round(float(number), DIGITS)

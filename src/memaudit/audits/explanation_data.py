"""Lost units, cells, and everything about one unit or memory, as plain data."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from memaudit.audits.diagnosis import Diagnosis
from memaudit.audits.explanation import (
    Covering,
    LostUnit,
    candidate_coverings,
    coverings,
    lost_units,
)
from memaudit.audits.sheet import Sheet, SheetRow
from memaudit.audits.union import WrittenMemory, WrittenStore
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.package import EvidenceUnit, Query

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

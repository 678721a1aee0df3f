"""Everything that a score knows about one unit or one memory, as JSON."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.package import EvidenceUnit, Query
from memaudit.kernel.score.loss_diagnosis import Diagnosis, NoDiagnosis
from memaudit.kernel.score.priced_store import JudgedStore, WrittenMemory
from memaudit.kernel.score.result import ScoreResult, StoreScore
from memaudit.kernel.score.score_json import coverings
from memaudit.kernel.words.text import content_key


def explanation(id: str, scores: ScoreResult) -> dict[str, Any]:
    """Everything about the unit of that id, and about memories of that id.

    A memory may also be named with its store before it. An error where nothing has that id.
    """
    units = [unit for unit in scores.package.units if unit.id == id]
    memories = [
        (store, memory)
        for store in scores.stores
        for memory in store.memories
        if id in (memory.id, store.candidate_id(memory))
    ]
    if not units and not memories:
        raise MemAuditError(
            f"nothing is called {id!r} in {scores.package.name!r} and its stores; give the id of a "
            "unit or of a memory, as --explain cells lists them"
        )
    return {
        "id": id,
        "unit": _unit_data(units[0], scores) if units else None,
        "memories": [_memory_data(store, memory, scores) for store, memory in memories],
    }


def _unit_data(unit: EvidenceUnit, scores: ScoreResult) -> dict[str, Any]:
    package = scores.package
    return {
        "kind": unit.kind,
        "text": unit.text,
        "weight": rounded(package.weights[unit.id]),
        "queries": _asking(package.queries, unit.id),
        "memories": [
            covering
            for store in scores.stores
            for covering in coverings(store)
            if covering["unit"] == unit.id
        ],
        "candidates": [
            {
                "store": None,
                "id": row.candidate,
                "text": package.candidate[row.candidate].text,
                "cost": plain(package.candidate[row.candidate].cost),
                "unit": unit.id,
                "value": plain(row.value),
                "provenance": row.provenance or "",
                "rationale": row.rationale or "",
            }
            for row in package.coverage
            if row.unit == unit.id and row.value
        ],
        "scores": [_unit_result(unit.id, row) for row in scores.rows],
    }


def _unit_result(unit: str, row: StoreScore) -> dict[str, Any]:
    """What became of a unit in one store at one budget."""
    head: dict[str, Any] = {"store": row.store, "budget": plain(row.budget)}
    if isinstance(row.diagnosis, NoDiagnosis):
        return {**head, "kept": None, "parts": None}
    parts = {
        step.name: rounded(part)
        for step in row.diagnosis.steps
        for name, part in step.units
        if name == unit
    }
    return {
        **head,
        "kept": rounded(row.diagnosis.kept_units.get(unit, Fraction(0))),
        "parts": parts,
    }


def _memory_data(store: JudgedStore, memory: WrittenMemory, scores: ScoreResult) -> dict[str, Any]:
    id = store.candidate_id(memory)
    texts = {unit.id: unit.text for unit in scores.package.units}
    return {
        "store": store.name,
        "memory": memory.id,
        "text": memory.text,
        "cost": plain(memory.cost),
        "cells": [
            {
                "unit": unit,
                "unit_text": texts[unit],
                "value": plain(cell.value),
                "provenance": cell.provenance,
                "rationale": cell.rationale,
            }
            for unit, cell in sorted(memory.coverage.items())
        ],
        "scores": [
            {
                "budget": plain(row.budget),
                "in_best_subset": id in row.numbers.best.ids
                or (scores.package.equal_texts_once and _is_copy(memory, row, store)),
                "kept": id in row.diagnosis.kept if isinstance(row.diagnosis, Diagnosis) else None,
            }
            for row in scores.rows
            if row.store == store.name
        ],
    }


def _is_copy(memory: WrittenMemory, row: StoreScore, store: JudgedStore) -> bool:
    """Whether the best subset has a memory of the same text."""
    best = set(row.numbers.best.ids)
    texts = {content_key(one.text) for one in store.memories if store.candidate_id(one) in best}
    return content_key(memory.text) in texts


def _asking(queries: Iterable[Query], unit: str) -> list[dict[str, str]]:
    """The queries that require a unit."""
    return [{"id": query.id, "text": query.text} for query in queries if unit in query.required]

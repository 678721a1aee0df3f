"""The JSON that `memaudit score --json` prints; formats/score_file.py reads it back."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Enclosure, plain
from memaudit.core.number_text import rounded
from memaudit.core.optimum import Optimum
from memaudit.core.package import EvidenceUnit, Query
from memaudit.core.text import content_key
from memaudit.formats.score_file import FORMAT, LOSS_STEPS, VERSION
from memaudit.scoring.caveats import store_data
from memaudit.scoring.lazy_judging import LazyResult
from memaudit.scoring.loss_diagnosis import Diagnosis, KindRow, LossStep, NoDiagnosis
from memaudit.scoring.package_scores import PackageScores, StoreResult
from memaudit.scoring.score import PrunedStore, Ratio, StoreScore
from memaudit.scoring.written_store import WrittenMemory, WrittenStore

MOST_UNITS = 10
"""Units and queries that a loss names; the others are counted."""


def package_scores_data(scores: PackageScores, cells: bool = False) -> dict[str, Any]:
    """All stores of one package; with every cell and lost unit where asked for."""
    scoring, package = scores.scoring, scores.package
    data = {
        "format": FORMAT,
        "version": VERSION,
        "package": package.name,
        "digest": scores.digest,
        "cost_rule": package.cost_rule,
        "group_cap": package.group_cap if scoring.group_cap is None else scoring.group_cap,
        "judge": scoring.judge_name,
        "coverage_is_an_estimate": scores.is_estimate,
        "package_cells": scores.package_cells,
        "lazy": None if scores.lazy is None else lazy_data(scores.lazy),
        "undecided_cells": sum(len(store.caveats.undecided) for store in scores.stores),
        "stores": [
            store_data(exported, store.caveats)
            for exported, store in zip(scores.exported, scores.stores, strict=True)
        ],
        "scores": [
            {
                **score_row(row.score),
                "unit_kinds": kinds_data(row.kinds),
                "diagnosis": diagnosis_row(row.diagnosis),
                **({"lost_units": lost_data(scores, row)} if cells else {}),
            }
            for row in scores.rows
        ],
    }
    return {**data, "cells": cells_data(scores)} if cells else data


def lazy_data(lazy: LazyResult) -> dict[str, Any]:
    """What lazy judging asked."""
    return {
        "pairs": lazy.pairs, "kept_by_filter": lazy.kept, "asked": lazy.asked,
        "rounds": lazy.rounds, "stopped_early": lazy.stopped,
    }  # fmt: skip


def score_row(score: StoreScore) -> dict[str, Any]:
    """One store at one budget."""
    return {
        "store": score.name,
        "budget": plain(score.budget),
        "memories": score.memories,
        "duplicates": score.duplicates,
        "duplicate_cost": plain(score.duplicate_cost),
        "value": rounded(score.score.value),
        "assumed_share": rounded(score.score.assumed),
        "cost": plain(score.score.cost),
        "feasible": score.feasible,
        "package_ratio": ratio_row(score.package_ratio),
        "union_ratio": ratio_row(score.union_ratio),
        "common_union_ratio": ratio_row(score.common_ratio),
        "upper_pruned": {**_pruned_row(score.upper), **_optimum_row(score.upper_optimum)},
        "pruned": {pruned.policy: _pruned_row(pruned) for pruned in score.pruned},
    }


def ratio_row(ratio: Ratio) -> dict[str, Any]:
    """A ratio with its denominator, or why there is none and what is known of it."""
    return {
        "value": rounded(ratio.value),
        "undefined": ratio.undefined or None,
        "between": None if ratio.between is None else [rounded(end) for end in ratio.between],
        "optimum": rounded(ratio.optimum.value),
        "basis": ratio.basis,
        **_optimum_row(ratio.optimum),
        "digest": ratio.optimum.digest,
        "assumed_share": rounded(ratio.optimum.assumed),
    }


def _optimum_row(optimum: Optimum) -> dict[str, Any]:
    """Whether it is proven, and its bound."""
    return {
        "certified": optimum.certified, "status": optimum.status, "bound": rounded(optimum.bound)
    }  # fmt: skip


def _pruned_row(pruned: PrunedStore) -> dict[str, Any]:
    union, common = ratio_row(pruned.ratio), ratio_row(pruned.common_ratio)
    return {
        "value": rounded(pruned.score.value),
        "assumed_share": rounded(pruned.score.assumed),
        "cost": plain(pruned.score.cost),
        "memories": len(pruned.store),
        "union_ratio": union["value"],
        "union_ratio_between": union["between"],
        "common_union_ratio": common["value"],
        "common_union_ratio_between": common["between"],
    }


def diagnosis_row(diagnosis: Diagnosis | NoDiagnosis) -> dict[str, Any]:
    """A diagnosis, its shares as exact text that sums to 1 with `kept`; or why there is none."""
    if isinstance(diagnosis, NoDiagnosis):
        return {
            "undefined": diagnosis.undefined,
            "message": str(diagnosis),
            "basis": diagnosis.basis,
            "optimum": rounded(diagnosis.optimum.value),
            **_optimum_row(diagnosis.optimum),
        }
    row = {
        "store": diagnosis.store,
        "budget": plain(diagnosis.budget),
        "optimum": rounded(diagnosis.optimum),
        "kept_by": diagnosis.policy,
        "kept": str(diagnosis.kept_share),
        "losses": {step.name: _step_row(step, diagnosis.is_exact) for step in diagnosis.steps},
        "advice": diagnosis.advice,
        "exact": diagnosis.is_exact,
    }
    return row if diagnosis.is_exact else {**row, "kept_between": _ends(diagnosis.kept_between)}


def _step_row(step: LossStep, exact: bool) -> dict[str, Any]:
    row = {
        "share": str(step.share),
        "value": rounded(step.value),
        "units": [[unit, rounded(part)] for unit, part in step.units[:MOST_UNITS]],
        "more_units": max(0, len(step.units) - MOST_UNITS),
        "queries": list(step.queries[:MOST_UNITS]),
        "more_queries": max(0, len(step.queries) - MOST_UNITS),
    }
    return row if exact else {**row, "share_between": _ends(step.between)}


def _ends(between: Enclosure) -> list[str]:
    """Both ends as exact text: they are closer to each other than rounding."""
    return [str(between.low), str(between.high)]


def kinds_data(rows: Iterable[KindRow]) -> dict[str, dict[str, Any]]:
    """Values and losses by kind of unit."""
    return {
        row.kind: {
            "units": row.units,
            "weight": rounded(row.weight),
            "value": rounded(row.written),
            "share": rounded(row.share),
            "kept": rounded(row.kept),
            "losses": row.losses and {step: rounded(value) for step, value in row.losses.items()},
        }
        for row in rows
    }


def cells_data(scores: PackageScores) -> dict[str, list[dict[str, Any]]]:
    """By store, every cell that is not 0, in the order of writing."""
    return {store.name: _coverings(store) for store in scores.stores}


def _coverings(store: WrittenStore) -> list[dict[str, Any]]:
    return [
        {
            "store": store.name,
            "id": memory.id,
            "text": memory.text,
            "cost": plain(memory.cost),
            "unit": unit,
            "value": plain(cell.value),
            "provenance": cell.provenance,
            "rationale": cell.rationale,
        }
        for memory in store.memories
        for unit, cell in sorted(memory.coverage.items())
        if cell.value
    ]


def lost_data(scores: PackageScores, row: StoreResult) -> list[dict[str, Any]]:
    """Every unit worth less in what is kept than in OPT of the common union, the largest first.

    A part may be negative where a lower stage covers the unit better. The parts add up to `lost`,
    and `step` is where most of it was lost, the earliest of equals. No diagnosis, no lost units.
    """
    package, diagnosis = scores.package, row.diagnosis
    if isinstance(diagnosis, NoDiagnosis):
        return []
    parts: dict[str, dict[str, Fraction]] = {}
    for step in diagnosis.steps:
        for unit, part in step.units:
            parts.setdefault(unit, {})[step.name] = part
    units = {unit.id: unit for unit in package.units}
    lost = {id: sum(by_step.values(), Fraction(0)) for id, by_step in parts.items()}
    return [
        {
            "unit": id,
            "kind": units[id].kind,
            "text": units[id].text,
            "weight": rounded(package.weights[id]),
            "lost": rounded(lost[id]),
            "kept": rounded(diagnosis.kept_units.get(id, Fraction(0))),
            "step": max(LOSS_STEPS, key=lambda step: parts[id].get(step, Fraction(0))),
            "parts": {step: rounded(part) for step, part in parts[id].items()},
            "queries": _asking(package.queries, id),
        }
        for id in sorted(lost, key=lambda id: (-lost[id], id))
        if lost[id] > 0
    ]


def explanation(id: str, scores: PackageScores) -> dict[str, Any]:
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
            "unit or of a memory, as --show-cells lists them"
        )
    return {
        "id": id,
        "unit": _unit_data(units[0], scores) if units else None,
        "memories": [_memory_data(store, memory, scores) for store, memory in memories],
    }


def _unit_data(unit: EvidenceUnit, scores: PackageScores) -> dict[str, Any]:
    package = scores.package
    return {
        "kind": unit.kind,
        "text": unit.text,
        "weight": rounded(package.weights[unit.id]),
        "queries": _asking(package.queries, unit.id),
        "memories": [
            covering
            for store in scores.stores
            for covering in _coverings(store)
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


def _unit_result(unit: str, row: StoreResult) -> dict[str, Any]:
    """What became of a unit in one store at one budget."""
    head: dict[str, Any] = {"store": row.score.name, "budget": plain(row.score.budget)}
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


def _memory_data(
    store: WrittenStore, memory: WrittenMemory, scores: PackageScores
) -> dict[str, Any]:
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
                "budget": plain(row.score.budget),
                "in_best_subset": id in row.score.upper.store
                or (scores.package.equal_texts_once and _is_copy(memory, row, store)),
                "kept": id in row.diagnosis.kept if isinstance(row.diagnosis, Diagnosis) else None,
            }
            for row in scores.rows
            if row.score.name == store.name
        ],
    }


def _is_copy(memory: WrittenMemory, row: StoreResult, store: WrittenStore) -> bool:
    """Whether the best subset has a memory of the same text."""
    best = set(row.score.upper.store)
    texts = {content_key(one.text) for one in store.memories if store.candidate_id(one) in best}
    return content_key(memory.text) in texts


def _asking(queries: Iterable[Query], unit: str) -> list[dict[str, str]]:
    """The queries that require a unit."""
    return [{"id": query.id, "text": query.text} for query in queries if unit in query.required]

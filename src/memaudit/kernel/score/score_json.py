"""The JSON that `memaudit score --json` prints; kernel/io/score_file.py reads it back."""

from collections.abc import Iterable
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from memaudit.kernel.exact import Enclosure, plain
from memaudit.kernel.io.score_file import FORMAT, VERSION
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.number_text import fraction_text, rounded
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.score.caveats import store_data
from memaudit.kernel.score.loss_diagnosis import Diagnosis, KindRow, Loss, LostUnit, NoDiagnosis
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.result import Asked, ScoreResult, StoreScore
from memaudit.kernel.score.score import PolicyResult, Ratio
from memaudit.kernel.score.truth import maybe_outdated
from memaudit.kernel.score.verdict import Verdict
from memaudit.kernel.score.writing_cost import writing_cost

MOST_UNITS = 10
"""Units and queries that a loss names; the others are counted."""


def package_scores_data(scores: ScoreResult, cells: bool = False) -> dict[str, Any]:
    """All stores of one package; with every cell and lost unit where asked for."""
    scoring, package = scores.scoring, scores.package
    data = {
        "format": FORMAT,
        "version": VERSION,
        "package": package.name,
        "digest": scores.digest,
        "union_digest": scores.union_digest,
        "cost_rule": package.cost_rule,
        "group_cap": package.group_cap if scoring.group_cap is None else scoring.group_cap,
        "judge": scoring.judge_name,
        "coverage_is_an_estimate": scores.is_estimate,
        "package_cells": scores.package_cells,
        "judge_digest": scoring.judge_digest,
        "draws": scoring.draws if any(row.interval for row in scores.rows) else 0,
        "escalation": None if scores.asked is None else asked_data(scores.asked),
        "undecided_cells": sum(len(store.caveats.undecided) for store in scores.stores),
        "stores": [
            {**store_data(exported, store.caveats), **_writing(exported, package.name)}
            for exported, store in zip(scores.exported, scores.stores, strict=True)
        ],
        "verdicts": [
            {
                **verdict_row(verdict),
                "maybe_outdated": [memory.id for memory in maybe_outdated(package, store)],
            }
            for verdict, store in zip(scores.verdicts, scores.stores, strict=True)
        ],
        "scores": [score_row(row, cells) for row in scores.rows],
    }
    return {**data, "cells": cells_data(scores)} if cells else data


def _writing(store: ExportedStore, package: str) -> dict[str, Any]:
    """What a captured store cost to write."""
    cost = writing_cost(store, package)
    return {} if cost is None else {"writing": cost.data()}


def asked_data(asked: Asked) -> dict[str, Any]:
    """What another judge was asked."""
    optimum = {str(plain(budget)): [*map(float, ends)] for budget, ends in asked.optimum.items()}
    return {**asdict(asked), "optimum": optimum}


def verdict_row(verdict: Verdict) -> dict[str, Any]:
    """How complete and how lean a store is, each with what it is made of."""
    least, between = verdict.least, verdict.lean_between
    below = None if least is None else least.below
    return {
        "store": verdict.store,
        "memories": verdict.memories,
        "cost": plain(verdict.cost),
        "measure": verdict.measure,
        "complete": {
            **ratio_row(verdict.complete),
            "exact": _exact(verdict.complete.value),
            "interval": _interval(verdict.complete_interval),
            "written": rounded(verdict.complete.numerator),
        },
        "lean": {
            "value": rounded(verdict.lean),
            "exact": _exact(verdict.lean),
            "interval": _interval(verdict.lean_interval),
            "between": None if between is None else list(map(float, between)),
            "undefined": verdict.not_lean or None,
            "times": rounded(verdict.times),
            "least_cost": None if least is None else [plain(least.low), plain(least.high)],
            "least_store": None if least is None else list(least.store),
            "excluded_at": None if below is None else plain(below.budget),
        },
        "false": None
        if verdict.falsehoods is None
        else {
            "by": verdict.falsehoods.source,
            "memories": list(verdict.falsehoods.false),
            "in_part": list(verdict.falsehoods.in_part),
            "read": verdict.falsehoods.read,
        },
        "for_its_size": None
        if verdict.for_its_size is None
        else rounded(verdict.for_its_size.value),
    }


def _exact(number: Fraction | None) -> str | None:
    return None if number is None else fraction_text(number)


def _interval(ends: tuple[float, float] | None) -> list[float | None] | None:
    return None if ends is None else [rounded(end) for end in ends]


def score_row(row: StoreScore, cells: bool = False) -> dict[str, Any]:
    """One store at one budget: the score first, then what it is made of, then other ratios."""
    # Rounded numbers are for people and tables; the exact text beside them is what can be computed
    # again and compared.
    numbers, ratio = row.numbers, row.numbers.kept.ratio
    return {
        "store": row.store,
        "budget": plain(row.budget),
        "asked": numbers.asked,
        "score": rounded(row.score),
        "exact": _exact(row.exact),
        "interval": _interval(row.interval),
        "chance": rounded(row.chance),
        "unrelated": row.is_unrelated,
        "between": _between(ratio),
        "undefined": row.undefined or None,
        "kept_by": row.kept_by,
        "optimum": {
            "value": rounded(row.optimum.value),
            "exact": fraction_text(row.optimum.value),
            **_optimum_row(row.optimum),
            "digest": row.optimum.digest,
            "assumed_share": rounded(row.optimum.assumed),
        },
        "kept": _kept_row(numbers.kept),
        "written": {
            "memories": numbers.memories,
            "cost": plain(numbers.written.cost),
            "value": rounded(numbers.written.value),
            "exact": fraction_text(numbers.written.value),
            "assumed_share": rounded(numbers.written.assumed),
            "duplicates": numbers.duplicates,
            "duplicate_cost": plain(numbers.duplicate_cost),
        },
        "package_ratio": ratio_row(numbers.kept.package_ratio),
        "union_ratio": ratio_row(numbers.kept.union_ratio),
        "random_cut": None if row.random_cut is None else rounded(row.random_cut.value),
        "best_subset": {**_kept_row(numbers.best), **_optimum_row(numbers.best_optimum)},
        "policies": {kept.by: _kept_row(kept) for kept in numbers.policies},
        "unit_kinds": kinds_data(row.kinds),
        "diagnosis": diagnosis_row(row.diagnosis),
        **({"lost_units": [lost_data(unit) for unit in row.lost]} if cells else {}),
    }


def ratio_row(ratio: Ratio) -> dict[str, Any]:
    """A ratio with its denominator, or why there is none and what is known of it."""
    return {
        "value": rounded(ratio.value),
        "undefined": ratio.undefined or None,
        "between": _between(ratio),
        "optimum": rounded(ratio.optimum.value),
        "basis": ratio.basis,
        **_optimum_row(ratio.optimum),
        "digest": ratio.optimum.digest,
        "assumed_share": rounded(ratio.optimum.assumed),
    }


def _between(ratio: Ratio) -> list[float] | None:
    return None if ratio.between is None else [rounded(end) for end in ratio.between]


def _optimum_row(optimum: Optimum) -> dict[str, Any]:
    """Whether it is proven, and its bound."""
    return {
        "certified": optimum.certified,
        "status": optimum.status,
        "bound": rounded(optimum.bound),
    }


def _kept_row(kept: PolicyResult) -> dict[str, Any]:
    """What is kept of a store; `ratio` is over OPT of the common union."""
    return {
        "memories": len(kept.ids),
        "cost": plain(kept.worth.cost),
        "value": rounded(kept.worth.value),
        "exact": fraction_text(kept.worth.value),
        "assumed_share": rounded(kept.worth.assumed),
        "ratio": rounded(kept.ratio.value),
        "package_ratio": rounded(kept.package_ratio.value),
        "union_ratio": rounded(kept.union_ratio.value),
        "between": _between(kept.ratio),
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
        "optimum": rounded(diagnosis.optimum),
        "stages": {name: rounded(value) for name, value in diagnosis.stages.items()},
        "kept": str(diagnosis.kept_share),
        "losses": {step.name: _step_row(step, diagnosis.is_exact) for step in diagnosis.steps},
        "advice": diagnosis.advice,
        "exact": diagnosis.is_exact,
    }
    return row if diagnosis.is_exact else {**row, "kept_between": _ends(diagnosis.kept_between)}


def _step_row(step: Loss, exact: bool) -> dict[str, Any]:
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
            "lost": row.lost and {step: rounded(value) for step, value in row.lost.items()},
            "gained": row.gained and {step: rounded(value) for step, value in row.gained.items()},
        }
        for row in rows
    }


def cells_data(scores: ScoreResult) -> dict[str, list[dict[str, Any]]]:
    """By store, every cell that is not 0, in the order of writing."""
    return {store.name: coverings(store) for store in scores.stores}


def coverings(store: JudgedStore) -> list[dict[str, Any]]:
    """Every cell of a store that is not 0, memory by memory."""
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


def lost_data(row: LostUnit) -> dict[str, Any]:
    """What a unit lost at a step, or gained, which is negative."""
    return {
        "unit": row.unit,
        "kind": row.kind,
        "text": row.text,
        "weight": rounded(row.weight),
        "lost": rounded(row.lost),
        "step": row.step,
        "asked_by": [{"id": id, "text": text} for id, text in row.asked_by],
    }

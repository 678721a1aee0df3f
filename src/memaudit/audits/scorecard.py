"""Scores and diagnosis of exported stores as plain data: what `--json` prints."""

from fractions import Fraction
from typing import Any

from memaudit.audits.diagnosis import Diagnosis, NoDiagnosis, Step
from memaudit.audits.exported import Pruned, StoreScore
from memaudit.audits.ratio import Ratio
from memaudit.core.exact import Enclosure, plain
from memaudit.core.optimum import Optimum

MOST_UNITS = 10
DIGITS = 9


def scorecard(score: StoreScore) -> dict[str, Any]:
    """One store at one budget."""
    upper = {**_pruned(score.upper), **_optimum(score.upper_optimum)}
    return {
        "store": score.name,
        "budget": plain(score.budget),
        "memories": score.memories,
        "value": _number(score.score.value),
        "cost": plain(score.score.cost),
        "feasible": score.feasible,
        "package_ratio": ratio_row(score.package_ratio),
        "union_ratio": ratio_row(score.union_ratio),
        "common_union_ratio": ratio_row(score.common_ratio),
        "upper_pruned": upper,
        "pruned": {one.policy: _pruned(one) for one in score.pruned},
    }


def ratio_row(ratio: Ratio) -> dict[str, Any]:
    """A ratio with its denominator, or why there is none and what is known of it."""
    value, between = ratio.value, ratio.between
    return {
        "value": None if value is None else _number(value),
        "undefined": ratio.undefined or None,
        "between": None if between is None else [_number(end) for end in between],
        "optimum": _number(ratio.optimum.value),
        "basis": ratio.basis,
        **_optimum(ratio.optimum),
        "digest": ratio.optimum.digest,
    }


def _optimum(optimum: Optimum) -> dict[str, Any]:
    """How far it is proven."""
    return {
        "certified": optimum.certified, "status": optimum.status, "bound": _number(optimum.bound)
    }  # fmt: skip


def _pruned(one: Pruned) -> dict[str, Any]:
    union, common = ratio_row(one.ratio), ratio_row(one.common_ratio)
    return {
        "value": _number(one.score.value),
        "cost": plain(one.score.cost),
        "memories": len(one.store),
        "union_ratio": union["value"],
        "union_ratio_between": union["between"],
        "common_union_ratio": common["value"],
        "common_union_ratio_between": common["between"],
    }


def diagnosis_row(found: Diagnosis | NoDiagnosis) -> dict[str, Any]:
    """A diagnosis, its shares as exact text that sums to 1 with `kept`; or why there is none."""
    if isinstance(found, NoDiagnosis):
        return {
            "undefined": found.undefined, "message": str(found), "basis": found.basis,
            "optimum": _number(found.optimum.value), **_optimum(found.optimum),
        }  # fmt: skip
    row = {
        "store": found.store,
        "budget": plain(found.budget),
        "optimum": _number(found.optimum),
        "kept_by": found.policy,
        "kept": str(found.kept_share),
        "losses": {step.name: _step(step, found.is_exact) for step in found.steps},
        "advice": found.advice,
        "exact": found.is_exact,
    }
    return row if found.is_exact else {**row, "kept_between": _between(found.kept_between)}


def _step(step: Step, exact: bool) -> dict[str, Any]:
    row = {
        "share": str(step.share),
        "value": _number(step.value),
        "units": [[unit, _number(part)] for unit, part in step.units[:MOST_UNITS]],
        "more_units": max(0, len(step.units) - MOST_UNITS),
        "queries": list(step.queries[:MOST_UNITS]),
        "more_queries": max(0, len(step.queries) - MOST_UNITS),
    }
    return row if exact else {**row, "share_between": _between(step.between)}


def _between(one: Enclosure) -> list[str]:
    """Both ends as exact text: they are closer to each other than rounding."""
    return [str(one.low), str(one.high)]


def _number(number: Fraction) -> float:
    return round(float(number), DIGITS)

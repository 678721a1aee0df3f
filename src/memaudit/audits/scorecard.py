"""Scores and diagnosis of exported stores as plain data: what `--json` prints."""

from fractions import Fraction
from typing import Any

from memaudit.audits.diagnosis import Diagnosis, Step
from memaudit.audits.exported import Pruned, StoreScore
from memaudit.audits.ratio import Ratio
from memaudit.core.exact import plain
from memaudit.core.package import VALIDITY_KINDS

MOST_UNITS = 10
DIGITS = 9


def scorecard(score: StoreScore) -> dict[str, Any]:
    """One store at one budget."""
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
        "upper_pruned": {**_pruned(score.upper), "certified": score.upper_optimum.certified},
        "pruned": {one.policy: _pruned(one) for one in score.pruned},
        "unit_kinds": {
            kind: _number(value)
            for kind, value in score.score.unit_coverage.items()
            if kind in VALIDITY_KINDS
        },
    }


def ratio_row(ratio: Ratio) -> dict[str, Any]:
    """A ratio with its denominator, or why there is none."""
    value = ratio.value
    return {
        "value": None if value is None else _number(value),
        "undefined": ratio.undefined or None,
        "optimum": _number(ratio.optimum.value),
        "basis": ratio.basis,
        "certified": ratio.optimum.certified,
        "digest": ratio.optimum.digest,
    }


def _pruned(one: Pruned) -> dict[str, Any]:
    return {
        "value": _number(one.score.value),
        "cost": plain(one.score.cost),
        "memories": len(one.store),
        "union_ratio": ratio_row(one.ratio)["value"],
        "common_union_ratio": ratio_row(one.common_ratio)["value"],
    }


def diagnosis_row(found: Diagnosis) -> dict[str, Any]:
    """A diagnosis; shares are exact text, and they and `kept` sum to 1."""
    return {
        "store": found.store,
        "budget": plain(found.budget),
        "optimum": _number(found.optimum),
        "kept_by": found.policy,
        "kept": str(found.kept_share),
        "losses": {step.name: _step(step) for step in found.steps},
        "advice": found.advice,
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "share": str(step.share),
        "value": _number(step.value),
        "units": [[unit, _number(part)] for unit, part in step.units[:MOST_UNITS]],
        "more_units": max(0, len(step.units) - MOST_UNITS),
        "queries": list(step.queries[:MOST_UNITS]),
        "more_queries": max(0, len(step.queries) - MOST_UNITS),
    }


def _number(number: Fraction) -> float:
    return round(float(number), DIGITS)

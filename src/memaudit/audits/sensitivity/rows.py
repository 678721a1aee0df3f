"""Findings as plain data: what `--json` prints."""

from typing import Any

from memaudit.audits.sensitivity.summary import Finding, Pairing, Spread, Survival
from memaudit.core.exact import plain

DIGITS = 9


def finding_row(found: Finding) -> dict[str, Any]:
    """One variant at one budget."""
    return {
        "variant": found.variant,
        "budget": plain(found.budget),
        "repetitions": found.repetitions,
        "stores": [
            {
                "store": one.store,
                "kept_by": list(one.kept_by),
                "kept": _spread(one.kept),
                "upper_pruned": _spread(one.upper),
            }
            for one in found.stores
        ],
        "kept_ranking": _survival(found.kept_ranking),
        "upper_pruned_ranking": _survival(found.upper_ranking),
        "uncertified_optima": found.uncertified,
    }


def pairing_row(found: Pairing) -> dict[str, Any]:
    """Two judges at one budget."""
    return {
        "first": found.first,
        "second": found.second,
        "budget": plain(found.budget),
        "kept_tau_b": _rounded(found.kept_tau),
        "upper_pruned_tau_b": _rounded(found.upper_tau),
        "same_kept_order": found.same_kept_order,
    }


def _spread(one: Spread) -> dict[str, Any]:
    return {
        "mean": _rounded(one.mean), "low": _rounded(one.low), "high": _rounded(one.high),
        "defined": one.n,
    }  # fmt: skip


def _survival(one: Survival) -> dict[str, Any]:
    return {
        "tau_b": _rounded(one.tau), "lowest_tau_b": _rounded(one.lowest),
        "same_order": one.same_order, "defined": one.n,
    }  # fmt: skip


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, DIGITS)

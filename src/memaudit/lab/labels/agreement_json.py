"""The agreement audit as JSON; null is an undefined value or an interval that does not exist."""

from fractions import Fraction
from typing import Any

from memaudit.kernel.exact import plain
from memaudit.kernel.stats.bootstrap import LEVEL, PercentileInterval
from memaudit.lab.labels.agreement import (
    AgreementAudit,
    AlphaEstimate,
    DisputedCell,
    PartAgreement,
    agreement_notes,
)
from memaudit.lab.labels.coded_labels import Rater, Scale
from memaudit.lab.labels.pair_agreement import (
    MOST_GROUP_DRAWS,
    Comparison,
    Estimate,
    Group,
    PairCoefficients,
)

DIGITS = 9


def agreement_data(audit: AgreementAudit) -> dict[str, Any]:
    """The content of `audit agreement --json`."""
    pairs: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in audit.comparisons:
        names = comparison.first.name, comparison.second.name
        pairs.setdefault(names, []).append(comparison)
    data: dict[str, Any] = {
        "format": "memaudit-agreement",
        "version": 1,
        "cells": audit.cells,
        "packages": audit.packages,
        "cells_with_key": audit.keyed,
        "draws": audit.draws,
        "group_draws": min(audit.draws, MOST_GROUP_DRAWS),
        "seed": audit.seed,
        "level": LEVEL,
        "interval": "over_packages" if audit.packages > 1 else "over_cells",
        "raters": [{**_name(rater), "labels": audit.labels[rater.name]} for rater in audit.raters],
        "own_passes": audit.own_passes,
        "consensus": audit.consensus,
        "pairs": [
            {
                "first": _name(scales[0].first),
                "second": _name(scales[0].second),
                "kind": scales[0].kind,
                "scales": {pair.scale.name: _comparison(pair) for pair in scales},
            }
            for scales in pairs.values()
        ],
        "alpha": [_alpha(estimate) for estimate in audit.alphas],
        "disputed": [_disputed(cell) for cell in audit.disputed],
        "notes": agreement_notes(audit),
    }
    if audit.parts:
        data["parts"] = [_parts(pair) for pair in audit.parts]
    return data


def _parts(pair: PartAgreement) -> dict[str, Any]:
    return {
        "first": _name(pair.first),
        "second": _name(pair.second),
        "parts": pair.parts,
        "agreed": pair.agreed,
        "kappa": None if pair.kappa is None else round(float(pair.kappa), DIGITS),
        "statements": pair.statements,
        "same_parts": pair.same,
        "mean_difference_of_share": round(float(pair.difference), DIGITS),
    }


def _name(rater: Rater) -> dict[str, str]:
    return {"name": rater.name, "role": rater.role}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    scale, natural = comparison.scale, comparison.natural
    return {
        "cells": comparison.cells,
        "left_out": comparison.left_out,
        "as_drawn": _coefficients(comparison.as_drawn, scale),
        "natural": None if natural is None else _coefficients(natural, scale),
        "groups": [_group(group) for group in comparison.groups],
    }


def _coefficients(measured: PairCoefficients, scale: Scale) -> dict[str, Any]:
    specific = zip(scale.categories, measured.specific, strict=True)
    return {
        "kappa": _estimate(measured.kappa),
        "raw_agreement": _estimate(measured.raw),
        "specific_agreement": {name: _estimate(own) for name, own in specific},
        "categories": scale.categories,
        "confusion": [[_entry(entry) for entry in row] for row in measured.table],
    }


def _entry(entry: Fraction) -> int | float:
    """Counts of cells are whole numbers, sums of weights need not be."""
    return entry.numerator if entry.denominator == 1 else round(float(entry), DIGITS)


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": None if estimate.value is None else round(float(estimate.value), DIGITS),
        "over_cells": _interval(estimate.over_cells),
        "over_packages": _interval(estimate.over_packages),
    }


def _interval(interval: PercentileInterval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "low": round(interval.low, DIGITS),
        "high": round(interval.high, DIGITS),
        "undefined_draws": interval.undefined,
    }


def _group(group: Group) -> dict[str, Any]:
    share = group.share
    return {
        "by": group.by,
        "group": group.name,
        "cells": group.cells,
        "kappa": None if group.kappa is None else _estimate(group.kappa),
        "raw_agreement": _estimate(group.raw),
        "disagreements": group.disagreements,
        "share_of_disagreements": None if share is None else round(float(share), DIGITS),
        "rate": round(float(group.rate), DIGITS),
    }


def _alpha(alpha: AlphaEstimate) -> dict[str, Any]:
    return {
        "scale": alpha.scale.name,
        "level": alpha.level,
        "balance": alpha.balance,
        **_estimate(alpha.estimate),
    }


def _disputed(disputed: DisputedCell) -> dict[str, Any]:
    cell = disputed.cell
    return {
        "cell_id": cell.id,
        "package": cell.package,
        "candidate_id": cell.candidate,
        "unit_id": cell.unit,
        "stratum": cell.stratum,
        "labels": disputed.labels,
        "gap": plain(disputed.gap),
        "differing_pairs": disputed.pairs,
        "candidate_text": cell.candidate_text,
        "unit_text": cell.unit_text,
    }

"""The audit as plain data; null is undefined, or an interval that cannot be had."""

from fractions import Fraction
from typing import Any

from memaudit.core.exact import plain
from memaudit.core.number_text import rounded
from memaudit.label_audit.agreement import AgreementAudit, Alpha, Disputed, notes
from memaudit.label_audit.coding import Scale
from memaudit.label_audit.pair_agreement import MOST_DRAWS, Comparison, Estimate, Group, Measured
from memaudit.label_audit.raters import Rater
from memaudit.label_audit.resampling import Bounds
from memaudit.stats.bootstrap import LEVEL


def audit_data(found: AgreementAudit) -> dict[str, Any]:
    """Everything that was found."""
    pairs: dict[tuple[str, str], list[Comparison]] = {}
    for one in found.comparisons:
        pairs.setdefault((one.first.name, one.second.name), []).append(one)
    return {
        "format": "memaudit-agreement",
        "version": 1,
        "cells": found.cells,
        "packages": found.packages,
        "cells_with_key": found.keyed,
        "draws": found.draws,
        "group_draws": min(found.draws, MOST_DRAWS),
        "seed": found.seed,
        "level": LEVEL,
        "interval": "over_packages" if found.packages > 1 else "over_cells",
        "raters": [{**_name(one), "labels": found.labels[one.name]} for one in found.raters],
        "own_passes": found.own_passes,
        "consensus": found.consensus,
        "pairs": [
            {
                "first": _name(scales[0].first),
                "second": _name(scales[0].second),
                "kind": scales[0].kind,
                "scales": {one.scale.name: _comparison(one) for one in scales},
            }
            for scales in pairs.values()
        ],
        "alpha": [_alpha(one) for one in found.alphas],
        "disputed": [_disputed(one) for one in found.disputed],
        "notes": notes(found),
    }


def _name(one: Rater) -> dict[str, str]:
    return {"name": one.name, "role": one.role}


def _comparison(one: Comparison) -> dict[str, Any]:
    return {
        "cells": one.cells,
        "left_out": one.left_out,
        "as_drawn": _measured(one.as_drawn, one.scale),
        "natural": None if one.natural is None else _measured(one.natural, one.scale),
        "groups": [_group(group) for group in one.groups],
    }


def _measured(one: Measured, scale: Scale) -> dict[str, Any]:
    return {
        "kappa": _estimate(one.kappa),
        "raw_agreement": _estimate(one.raw),
        "specific_agreement": {
            name: _estimate(own) for name, own in zip(scale.categories, one.specific, strict=True)
        },
        "categories": scale.categories,
        "confusion": [[_entry(entry) for entry in row] for row in one.table],
    }


def _entry(entry: Fraction) -> int | float:
    """Cells are whole numbers; what they weigh may be none."""
    return entry.numerator if entry.denominator == 1 else rounded(entry)


def _estimate(one: Estimate) -> dict[str, Any]:
    return {
        "value": rounded(one.value),
        "over_cells": _bounds(one.over_cells),
        "over_packages": _bounds(one.over_packages),
    }


def _bounds(one: Bounds | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "low": rounded(one.low),
        "high": rounded(one.high),
        "undefined_draws": one.undefined,
    }


def _group(one: Group) -> dict[str, Any]:
    return {
        "by": one.by,
        "group": one.name,
        "cells": one.cells,
        "kappa": None if one.kappa is None else _estimate(one.kappa),
        "raw_agreement": _estimate(one.raw),
        "disagreements": one.disagreements,
        "share_of_disagreements": rounded(one.share),
        "rate": rounded(one.rate),
    }


def _alpha(one: Alpha) -> dict[str, Any]:
    return {
        "scale": one.scale.name,
        "level": one.level,
        "balance": one.balance,
        **_estimate(one.estimate),
    }


def _disputed(one: Disputed) -> dict[str, Any]:
    cell = one.cell
    return {
        "cell_id": cell.id,
        "package": cell.package,
        "candidate_id": cell.candidate,
        "unit_id": cell.unit,
        "stratum": cell.stratum,
        "labels": one.labels,
        "gap": plain(one.gap),
        "differing_pairs": one.pairs,
        "candidate_text": cell.candidate_text,
        "unit_text": cell.unit_text,
    }

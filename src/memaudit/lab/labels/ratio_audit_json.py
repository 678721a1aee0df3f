"""The audit of ratios as JSON."""

from collections import Counter
from fractions import Fraction
from typing import Any

from memaudit.kernel.exact import plain
from memaudit.kernel.number_text import rounded
from memaudit.kernel.stats.bootstrap import Interval
from memaudit.lab.labels.audited_package import NOT_COVERED
from memaudit.lab.labels.label_samples import LEAN
from memaudit.lab.labels.label_sources import LabelSource
from memaudit.lab.labels.package_cells import Stratum
from memaudit.lab.labels.ratio_audit import RatioAudit, RelabelledScores
from memaudit.lab.labels.ratio_audit_summary import (
    DrawSpread,
    LabelShift,
    RankingChange,
    RatioAuditSummary,
    RatioSummaryRow,
    changed_cells,
    ratio_notes,
)
from memaudit.lab.studies.rank_correlation import Correlation

FORMAT, VERSION = "memaudit-label-ratios", 1


def ratio_audit_data(audit: RatioAudit, summary: RatioAuditSummary) -> dict[str, Any]:
    """The content of `audit ratios --json`."""
    spec = audit.spec
    return {
        "format": FORMAT,
        "version": VERSION,
        "budgets": [plain(budget) for budget in spec.budgets],
        "stores": list(audit.store_names),
        "basis": sorted({audited.basis for audited in spec.packages}),
        "packages": len(spec.packages),
        "draws": spec.draws,
        "seed": spec.seed,
        "solved_optima": summary.solved,
        "uncertified_optima": summary.uncertified,
        "contradicting_memory_cells": audit.contradicting,
        "confusion": _confusion(audit),
        "doubt": _doubt(audit),
        "notes": ratio_notes(audit),
        "label_sets": [
            _label_set(audit, source, summary.shifts[source.name]) for source in audit.sources
        ],
        "ratios": [_row(row) for row in summary.rows],
        "per_package": [_package(audit, place) for place in range(len(spec.packages))],
    }


def _confusion(audit: RatioAudit) -> list[dict[str, Any]]:
    """The odds over all cells, and how many labels they come from."""
    odds = audit.label_samples.odds
    return [
        {
            "from": plain(label),
            "to": plain(other),
            "share": rounded(share),
            "labels": odds.counts[label, other],
        }
        for label in odds.labels
        for other, share in odds.shares(label).items()
    ]


def _doubt(audit: RatioAudit) -> dict[str, Any]:
    """The odds of every stratum, and how many cells are drawn."""
    draws, represented = audit.label_samples, audit.label_samples.represented
    expected = represented.expected
    return {
        "label_sets": list(draws.sources),
        "cells_asked_about": sum(map(len, audit.own.labels.values())),
        "cells_stood_for": represented.number,
        "cells_stood_for_by_key": None if expected is None else plain(expected),
        "uncovered_cells_not_drawn": represented.untouched,
        "changed_labels_in_a_draw": rounded(draws.expected_changes),
        "lean": LEAN,
        "strata": _strata(audit),
    }


def _strata(audit: RatioAudit) -> list[dict[str, Any]]:
    """Every label and stratum with cells to draw, in order."""
    draws = audit.label_samples
    cells: Counter[tuple[Stratum, Fraction]] = Counter()
    for package, labels in audit.own.labels.items():
        cells.update((draws.strata[package].of(*at), label) for at, label in labels.items())
    for package, outside in draws.represented.cells.items():
        cells.update((draws.strata[package].of(*at), NOT_COVERED) for at in outside)
    ordered = sorted(cells, key=lambda cell: (*map(str, cell[0]), cell[1]))
    return [
        {
            "candidate_kind": stratum[0],
            "unit_kind": stratum[1],
            "same_session": stratum[2],
            "from": plain(label),
            "cells": cells[stratum, label],
            "odds": {
                str(plain(other)): rounded(share)
                for other, share in draws.odds.odds(label, stratum).items()
            },
        }
        for stratum, label in ordered
    ]


def _label_set(
    audit: RatioAudit, source: LabelSource, shifts: tuple[LabelShift, ...]
) -> dict[str, Any]:
    return {
        "name": source.name,
        "role": source.role,
        "judged_cells": source.labelled_cells,
        "changed_cells": changed_cells(audit, source),
        "changed_cells_with_memories": sum(map(len, audit.relabellings[source.name])),
        "cannot_tell": source.undecided_cells,
        "cells_of_other_packages": source.elsewhere,
        "without_consensus": dict(source.unsettled),
        "shifts": [_shift(shift) for shift in shifts],
    }


def _shift(shift: LabelShift) -> dict[str, Any]:
    return {
        "budget": None if shift.budget is None else plain(shift.budget),
        "ratio_mad": _interval(shift.change),
        "pairs": shift.pairs,
        "ranking": _ranking(shift.ranking),
        "undefined": dict(shift.undefined),
    }


def _ranking(ranking: RankingChange) -> dict[str, Any]:
    return {
        "ranked": ranking.ranked,
        "preserved": ranking.preserved if ranking.ranked > 1 else None,
        "swapped": [list(pair) for pair in ranking.swapped],
        "tied_under_one": [list(pair) for pair in ranking.tied],
        "tau_b": _correlation(ranking.tau),
        "spearman_rho": _correlation(ranking.rho),
        "share_of_draws_preserved": rounded(ranking.stays),
    }


def _correlation(correlation: Correlation) -> dict[str, Any]:
    return {name: rounded(getattr(correlation, name)) for name in ("value", "low", "high")}


def _row(row: RatioSummaryRow) -> dict[str, Any]:
    both = None if row.both is None else {"low": rounded(row.both[0]), "high": rounded(row.both[1])}
    return {
        "store": row.store,
        "budget": plain(row.budget),
        "ratios": {name: _interval(interval) for name, interval in row.ratios.items()},
        "missing": dict(row.missing),
        "label_draws": None if row.labels is None else _spread(row.labels),
        "label_and_package_draws": both,
    }


def _spread(spread: DrawSpread) -> dict[str, Any]:
    return {
        "draws": spread.draws,
        "interval": "range" if spread.is_range else "middle 95%",
        "mean": rounded(spread.mean),
        "low": rounded(spread.low),
        "high": rounded(spread.high),
        "undefined": spread.undefined,
    }


def _package(audit: RatioAudit, place: int) -> dict[str, Any]:
    audited, fixed = audit.spec.packages[place], audit.fixed[place]
    return {
        "package": audited.name,
        "basis": audited.basis,
        "exported": [
            {"store": store.name, "unseen": store.caveats.lines} for store in audited.stores
        ],
        "stores": [
            {"store": name, "budget": plain(budget), "kept": list(ids)}
            for (name, budget), ids in fixed.stores.items()
        ],
        "failed": [
            {"store": name, "budget": plain(budget), "why": why}
            for (name, budget), why in fixed.failed.items()
        ],
        "label_sets": [
            {"name": name, **_scores(scores[place])} for name, scores in audit.scores.items()
        ],
    }


def _scores(scores: RelabelledScores) -> dict[str, Any]:
    return {
        "digest": scores.digest,
        "optima": [
            {
                "budget": plain(budget),
                "value": plain(best.value),
                "certified": best.certified,
                "undefined": best.undefined,
                "assumed_share": rounded(best.assumed),
            }
            for budget, best in scores.optima.items()
        ],
        "ratios": [
            {
                "store": name,
                "budget": plain(budget),
                "value": plain(scores.values[name, budget]),
                "ratio": rounded(ratio),
            }
            for (name, budget), ratio in scores.ratios.items()
        ],
    }


def _interval(interval: Interval) -> dict[str, Any]:
    """Without an interval if fewer than two packages have a value."""
    drawn = interval.n > 1
    return {
        "packages": interval.n,
        "mean": rounded(interval.mean),
        "low": rounded(interval.low) if drawn else None,
        "high": rounded(interval.high) if drawn else None,
    }

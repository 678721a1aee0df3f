"""The audit of ratios as plain data: what `--json` prints."""

import math
from fractions import Fraction
from typing import Any

from memaudit.audits.relabel.audit import Answer
from memaudit.audits.relabel.bounds import Bounds, MeanBounds
from memaudit.audits.relabel.doubt_rows import DIGITS, confusion_data, doubt_data
from memaudit.audits.relabel.measuring import Measured
from memaudit.audits.relabel.notes import notes
from memaudit.audits.relabel.rankings import Correlation, Ranking
from memaudit.audits.relabel.readings import Reading
from memaudit.audits.relabel.summary import Row, Shift, Spread, Summary
from memaudit.audits.relabel.units import Moved
from memaudit.audits.statistics import Interval
from memaudit.core.exact import plain

FORMAT, VERSION = "memaudit-label-ratios", 1


def answer_data(answer: Answer, found: Summary) -> dict[str, Any]:
    """All of it."""
    question = answer.question
    return {
        "format": FORMAT,
        "version": VERSION,
        "budgets": [plain(budget) for budget in question.budgets],
        "stores": list(answer.entries),
        "basis": sorted({case.basis for case in question.cases}),
        "packages": len(question.cases),
        "draws": question.draws,
        "seed": question.seed,
        "solved_optima": found.solved,
        "uncertified_optima": found.uncertified,
        "contradicting_memory_cells": answer.contradicting,
        "open_cells": sum(len(box.low) for box in answer.boxes),
        "confusion": confusion_data(answer),
        "doubt": doubt_data(answer),
        "notes": notes(answer),
        "label_sets": [_set(answer, one, found.shifts[one.name]) for one in answer.readings],
        "ratios": [_row(row) for row in found.rows],
        "per_package": [_package(answer, place) for place in range(len(question.cases))],
    }


def _set(answer: Answer, reading: Reading, shifts: tuple[Shift, ...]) -> dict[str, Any]:
    return {
        "name": reading.name,
        "role": reading.role,
        "judged_cells": reading.judged,
        "changed_cells": changed_cells(answer, reading),
        "changed_cells_with_memories": sum(map(len, answer.changed[reading.name])),
        "cannot_tell": reading.in_doubt,
        "cells_of_other_packages": reading.elsewhere,
        "without_consensus": dict(reading.unsettled),
        "shifts": [_shift(one) for one in shifts],
        "units": [_moved(one) for one in answer.moved[reading.name]],
    }


def changed_cells(answer: Answer, reading: Reading) -> int:
    """Cells that the label set itself labels otherwise than the package."""
    return sum(
        value != answer.own.labels[package].get(at, value)
        for package, labels in reading.labels.items()
        for at, value in labels.items()
    )


def _shift(one: Shift) -> dict[str, Any]:
    return {
        "budget": None if one.budget is None else plain(one.budget),
        "ratio_mad": _interval(one.change),
        "pairs": one.pairs,
        "ranking": _ranking(one.ranking),
        "undefined": dict(one.undefined),
    }


def _ranking(one: Ranking) -> dict[str, Any]:
    return {
        "ranked": one.ranked,
        "preserved": one.preserved if one.ranked > 1 else None,
        "swapped": [list(pair) for pair in one.swapped],
        "tied_under_one": [list(pair) for pair in one.tied],
        "tau_b": _correlation(one.tau),
        "spearman_rho": _correlation(one.rho),
        "share_of_draws_preserved": _real(one.stays),
    }


def _correlation(one: Correlation) -> dict[str, Any]:
    return {"value": _real(one.value), "low": _real(one.low), "high": _real(one.high)}


def _moved(one: Moved) -> dict[str, Any]:
    return {
        "package": one.package,
        "unit": one.unit,
        "text": one.text,
        "value_change": _exact(one.value),
        "optimum_change": _exact(one.optimum),
        "optimum_changes": {str(plain(b)): _exact(change) for b, change in one.optima.items()},
        "ratio_change": _exact(one.ratio),
        "absolute_ratio_change": _exact(one.size),
        "ratios_lost": one.lost,
        "cells": [
            {"candidate": at[0], "before": plain(before), "after": plain(after)}
            for at, before, after in one.cells
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "store": row.entry,
        "budget": plain(row.budget),
        "ratios": {name: _interval(one) for name, one in row.ratios.items()},
        "missing": dict(row.missing),
        "label_draws": None if row.labels is None else _spread(row.labels),
        "label_and_package_draws": None
        if row.both is None
        else {"low": _real(row.both[0]), "high": _real(row.both[1])},
        "bounds": None if row.bounds is None else _mean_bounds(row.bounds),
    }


def _spread(one: Spread) -> dict[str, Any]:
    return {
        "draws": one.draws, "interval": "range" if one.is_range else "middle 95%",
        "mean": _real(one.mean), "low": _real(one.low), "high": _real(one.high),
        "undefined": one.undefined,
    }  # fmt: skip


def _mean_bounds(one: MeanBounds) -> dict[str, Any]:
    return {
        "low": _exact(one.low), "high": _exact(one.high), "exact": one.exact,
        "packages": one.packages,
    }  # fmt: skip


def _package(answer: Answer, place: int) -> dict[str, Any]:
    case, kept = answer.question.cases[place], answer.kept[place]
    return {
        "package": case.name,
        "basis": case.basis,
        "open_cells": len(answer.boxes[place].low),
        "exported": [{"store": store.name, "unseen": store.account.lines} for store in case.stores],
        "stores": [
            {"store": name, "budget": plain(budget), "kept": list(ids)}
            for (name, budget), ids in kept.stores.items()
        ],
        "failed": [
            {"store": name, "budget": plain(budget), "why": why}
            for (name, budget), why in kept.failed.items()
        ],
        "label_sets": [
            {"name": name, **_measured(found[place])} for name, found in answer.sets.items()
        ],
        "bounds": [
            {"store": name, "budget": plain(budget), **_bounds(one)}
            for (name, budget), one in answer.bounds[place].items()
        ],
    }


def _measured(one: Measured) -> dict[str, Any]:
    return {
        "digest": one.digest,
        "optima": [
            {"budget": plain(budget), "value": plain(best.value), "certified": best.certified,
             "undefined": best.undefined}
            for budget, best in one.optima.items()
        ],
        "ratios": [
            {"store": name, "budget": plain(budget), "value": plain(one.values[name, budget]),
             "ratio": None if ratio is None else _exact(ratio)}
            for (name, budget), ratio in one.ratios.items()
        ],
    }  # fmt: skip


def _bounds(one: Bounds | str) -> dict[str, Any]:
    if isinstance(one, str):
        return {"undefined": one}
    return {
        "low": _exact(one.low), "high": _exact(one.high),
        "reached_low": None if one.reached_low is None else _exact(one.reached_low),
        "reached_high": None if one.reached_high is None else _exact(one.reached_high),
        "exact": one.exact, "sometimes_undefined": one.sometimes_undefined,
    }  # fmt: skip


def _interval(one: Interval) -> dict[str, Any]:
    """Without an interval where fewer than two packages were there to draw from."""
    drawn = one.n > 1
    return {
        "packages": one.n, "mean": _real(one.mean), "low": _real(one.low) if drawn else None,
        "high": _real(one.high) if drawn else None,
    }  # fmt: skip


def _exact(number: Fraction) -> float:
    return round(float(number), DIGITS)


def _real(number: float | None) -> float | None:
    return None if number is None or math.isnan(number) else round(number, DIGITS)

"""What a reader must know about the numbers of an audit of ratios, line by line."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from memaudit.core.exact import plain
from memaudit.core.number_text import rounded
from memaudit.core.text import counted
from memaudit.label_audit.audited_package import NOT_COVERED
from memaudit.label_audit.label_confusion import LEAN
from memaudit.label_audit.moving_units import Moved
from memaudit.label_audit.population import Stratum
from memaudit.label_audit.ratio_bounds import Bounds, MeanBounds
from memaudit.label_audit.ratios import Answer
from memaudit.label_audit.ratios_summary import (
    FEWEST,
    Correlation,
    Ranking,
    Row,
    Shift,
    Spread,
    Summary,
)
from memaudit.label_audit.readings import Reading
from memaudit.label_audit.relabelled_optima import Measured
from memaudit.stats.bootstrap import Interval


def notes(answer: Answer) -> list[str]:
    """All of them, without a full stop."""
    found = [*_binary(answer)]
    if answer.draws:
        found += [*_drawn(answer), *_not_drawn(answer)]
    return found


def _drawn(answer: Answer) -> Iterator[str]:
    """How many draws of which cells, and from what."""
    number, doubts = len(answer.draws), answer.doubts
    what = "the range" if number < FEWEST else "the middle 95 %"
    asked = sum(map(len, answer.own.labels.values()))
    cells = f"the {asked:,} cells asked about"
    if doubts.outside.number:
        cells += f" and the {doubts.outside.number:,} uncovered ones that drawn cells stand for"
    yield (
        f"labels drawn: {what} of {counted(number, 'draw')} of {cells}; about "
        f"{doubts.expected:,.1f} labels turn out otherwise in a draw"
    )
    whose, start = "the package's label", "the package's labels"
    if answer.question.confusion == "annotators":
        whose, start = "each other's labels", "the consensus"
    yield (
        f"odds: how {', '.join(doubts.readers)} labelled cells, given {whose}, by candidate kind, "
        "session and unit kind, small groups leaning on wider ones; each cell is drawn by itself; "
        f"draws add doubt to {start}, so the ratio under these may lie outside"
    )


def _not_drawn(answer: Answer) -> Iterator[str]:
    """Cells that draws leave alone, where that is not as it should be."""
    frame, outside = answer.question.frame, answer.doubts.outside
    if frame is not None and not frame.key:
        yield (
            "the frame has no key, so what its cells stand for is not known: only the frame's own "
            "cells are drawn, and doubt is understated if it is a sample"
        )
    elif frame is not None and all(one.weight == 1 for one in frame.key.values()):
        yield (
            "by the key every cell stands for itself: only the frame's own cells are drawn, and "
            "doubt is understated if the frame is a sample and the key lacks weights"
        )
    if outside.expected is not None and outside.expected != outside.found:
        yield (
            f"the key stands for {float(outside.expected):,g} uncovered cells outside the frame, "
            f"these packages have {outside.found:,}: they are not as they were when it was drawn"
        )
    if outside.untouched:
        yield (
            f"{outside.untouched:,} uncovered cells keep the package's label in all draws: nobody "
            "was asked about their like"
        )


def _binary(answer: Answer) -> Iterator[str]:
    for reading in answer.question.readings:
        raised = _raised(reading, answer.own)
        if raised:
            yield (
                f"{reading.name} says full or none, never partial: cells that the package calls "
                f"partial and {reading.name} covered count as changed to full: {raised:,}"
            )


def _raised(reading: Reading, own: Reading) -> int:
    """Cells called full that the package calls partial, by somebody who knows no partial."""
    given = {value for labels in reading.labels.values() for value in labels.values()}
    if any(0 < value < 1 for value in given):
        return 0
    return sum(
        value == 1 and 0 < own.labels[package][at] < 1
        for package, labels in reading.labels.items()
        for at, value in labels.items()
    )


def doubt_data(answer: Answer) -> dict[str, Any]:
    """The confusion, the odds of every stratum, and how many cells are drawn."""
    doubts, outside = answer.doubts, answer.doubts.outside
    expected = outside.expected
    return {
        "confusion": answer.question.confusion,
        "start": "package" if answer.question.confusion == "package" else "consensus",
        "label_sets": list(doubts.readers),
        "cells_asked_about": sum(map(len, answer.own.labels.values())),
        "cells_stood_for": outside.number,
        "cells_stood_for_by_key": None if expected is None else plain(expected),
        "uncovered_cells_not_drawn": outside.untouched,
        "changed_labels_in_a_draw": rounded(doubts.expected),
        "lean": LEAN,
        "strata": _strata(answer),
    }


def confusion_data(answer: Answer) -> list[dict[str, Any]]:
    """The odds over all cells, and how many labels they come from."""
    chances = answer.doubts.chances
    return [
        {"from": plain(label), "to": plain(other), "share": rounded(share),
         "labels": chances.counts[label, other]}
        for label in chances.labels
        for other, share in chances.shares(label).items()
    ]  # fmt: skip


def _strata(answer: Answer) -> list[dict[str, Any]]:
    """Every label and stratum with cells to draw, in order."""
    doubts = answer.doubts
    cells: Counter[tuple[Stratum, Fraction]] = Counter()
    for package, labels in answer.own.labels.items():
        cells.update((doubts.strata[package].of(*at), label) for at, label in labels.items())
    for package, beyond in doubts.outside.cells.items():
        cells.update((doubts.strata[package].of(*at), NOT_COVERED) for at in beyond)
    ordered = sorted(cells, key=lambda one: (*map(str, one[0]), one[1]))
    return [
        {
            "candidate_kind": stratum[0], "unit_kind": stratum[1], "same_session": stratum[2],
            "from": plain(label), "cells": cells[stratum, label],
            "odds": {
                str(plain(other)): rounded(share)
                for other, share in doubts.chances.odds(label, stratum).items()
            },
        }
        for stratum, label in ordered
    ]  # fmt: skip


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
        "share_of_draws_preserved": rounded(one.stays),
    }


def _correlation(one: Correlation) -> dict[str, Any]:
    return {"value": rounded(one.value), "low": rounded(one.low), "high": rounded(one.high)}


def _moved(one: Moved) -> dict[str, Any]:
    return {
        "package": one.package,
        "unit": one.unit,
        "text": one.text,
        "value_change": rounded(one.value),
        "optimum_change": rounded(one.optimum),
        "optimum_changes": {str(plain(b)): rounded(change) for b, change in one.optima.items()},
        "ratio_change": rounded(one.ratio),
        "absolute_ratio_change": rounded(one.size),
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
        else {"low": rounded(row.both[0]), "high": rounded(row.both[1])},
        "bounds": None if row.bounds is None else _mean_bounds(row.bounds),
    }


def _spread(one: Spread) -> dict[str, Any]:
    return {
        "draws": one.draws, "interval": "range" if one.is_range else "middle 95%",
        "mean": rounded(one.mean), "low": rounded(one.low), "high": rounded(one.high),
        "undefined": one.undefined,
    }  # fmt: skip


def _mean_bounds(one: MeanBounds) -> dict[str, Any]:
    return {
        "low": rounded(one.low), "high": rounded(one.high), "exact": one.exact,
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
             "ratio": None if ratio is None else rounded(ratio)}
            for (name, budget), ratio in one.ratios.items()
        ],
    }  # fmt: skip


def _bounds(one: Bounds | str) -> dict[str, Any]:
    if isinstance(one, str):
        return {"undefined": one}
    return {
        "low": rounded(one.low), "high": rounded(one.high),
        "reached_low": None if one.reached_low is None else rounded(one.reached_low),
        "reached_high": None if one.reached_high is None else rounded(one.reached_high),
        "exact": one.exact, "sometimes_undefined": one.sometimes_undefined,
    }  # fmt: skip


def _interval(one: Interval) -> dict[str, Any]:
    """Without an interval where fewer than two packages were there to draw from."""
    drawn = one.n > 1
    return {
        "packages": one.n, "mean": rounded(one.mean), "low": rounded(one.low) if drawn else None,
        "high": rounded(one.high) if drawn else None,
    }  # fmt: skip

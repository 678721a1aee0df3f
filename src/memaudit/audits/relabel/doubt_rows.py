"""What draws of labels rest on, as plain data."""

from collections import Counter
from fractions import Fraction
from typing import Any

from memaudit.audits.frames.population import Stratum
from memaudit.audits.relabel.audit import Answer
from memaudit.audits.relabel.chances import LEAN
from memaudit.audits.relabel.labels import NOT_COVERED
from memaudit.core.exact import plain

DIGITS = 9


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
        "changed_labels_in_a_draw": round(doubts.expected, DIGITS),
        "lean": LEAN,
        "strata": _strata(answer),
    }


def confusion_data(answer: Answer) -> list[dict[str, Any]]:
    """The odds over all cells, and how many labels they come from."""
    chances = answer.doubts.chances
    return [
        {"from": plain(label), "to": plain(other), "share": round(float(share), DIGITS),
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
                str(plain(other)): round(float(share), DIGITS)
                for other, share in doubts.chances.odds(label, stratum).items()
            },
        }
        for stratum, label in ordered
    ]  # fmt: skip

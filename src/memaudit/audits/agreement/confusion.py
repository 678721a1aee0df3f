"""Two label sets side by side: how often each pair of labels met on a cell."""

from collections import Counter
from fractions import Fraction

from memaudit.audits.frames.cell import Label, LabelSet

Confusion = dict[tuple[Label, Label], int]
"""Cells by the first and the second label they got."""


def confusion(first: LabelSet, second: LabelSet) -> Confusion:
    """Cells labelled by both, by their two labels; `cannot_tell` is counted as a label too."""
    found = Counter((label, second.labels[cell]) for cell, label in first.labels.items()
                    if cell in second.labels)  # fmt: skip
    return dict(sorted(found.items()))


def confusion_between(first: LabelSet, second: LabelSet) -> dict[Label, dict[Label, Fraction]]:
    """For each label the first gave, the share of those cells by the label the second gave them."""
    counts = confusion(first, second)
    totals: Counter[Label] = Counter()
    for (one, _), cells in counts.items():
        totals[one] += cells
    rates: dict[Label, dict[Label, Fraction]] = {label: {} for label in sorted(totals)}
    for (one, other), cells in counts.items():
        rates[one][other] = Fraction(cells, totals[one])
    return rates

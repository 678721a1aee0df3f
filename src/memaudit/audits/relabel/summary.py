"""The numbers of the tables: changes of ratios, rankings, and every mean ratio with its doubts.

Bootstrap intervals draw packages with replacement; label intervals hold the middle 95 % of the
draws of labels, or all of them where they are few; `both` draws labels and packages. With fewer
than two packages no packages are drawn.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from memaudit.audits.agreement.raters import PACKAGE
from memaudit.audits.ratio import NOT_CERTIFIED
from memaudit.audits.relabel.audit import Answer
from memaudit.audits.relabel.bounds import Bounds, MeanBounds, mean_bounds
from memaudit.audits.relabel.rankings import Column, Ranking, ranking
from memaudit.audits.statistics import TAILS, Floats, Interval, draws, intervals

ABSENT, FAILED = "no store", "writer failed"
FEWEST = 40
"""Draws from which on a 2.5 % tail holds one of them; of fewer the range is told, and called so."""


@dataclass(frozen=True, slots=True)
class Shift:
    """One label set against the package's own labels at one budget, or at all (None).

    `change` is the mean over packages of the mean absolute change of ratios over stores: the
    paper's ratio MAD. `undefined` counts packages without a ratio under the label set, by reason.
    """

    budget: Fraction | None
    change: Interval
    pairs: int
    ranking: Ranking
    undefined: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean ratio over draws of labels; `undefined` counts ratios without a value in them."""

    draws: int
    mean: float
    low: float
    high: float
    undefined: int

    @property
    def is_range(self) -> bool:
        """Whether the ends are those of all draws, as there are too few for a middle 95 %."""
        return self.draws < FEWEST


@dataclass(frozen=True, slots=True)
class Row:
    """One store at one budget. `missing` counts packages without its ratio, by reason.

    `bounds` is None where some optimum is not certified, or no package has a ratio.
    """

    entry: str
    budget: Fraction
    ratios: Mapping[str, Interval]
    missing: Mapping[str, int]
    labels: Spread | None
    both: tuple[float, float] | None
    bounds: MeanBounds | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The shifts of every label set, and the rows of every store."""

    shifts: Mapping[str, tuple[Shift, ...]]
    rows: tuple[Row, ...]
    uncertified: int
    solved: int


def summarised(answer: Answer) -> Summary:
    """All numbers, from exact ratios."""
    packages, budgets = len(answer.question.cases), answer.question.budgets
    drawn = draws(packages, answer.question.seed)
    shifts = {
        reading.name: tuple(
            _shift(answer, reading.name, chosen, drawn)
            for chosen in (*((budget,) for budget in budgets), *_together(budgets))
        )
        for reading in answer.readings
    }
    rows = tuple(
        _row(answer, entry, budget, drawn) for budget in budgets for entry in answer.entries
    )
    runs = [*answer.sets.values(), *answer.draws]
    optima = [best for run in runs for one in run for best in one.optima.values()]
    return Summary(shifts, rows, sum(not best.certified for best in optima), len(optima))


def _together(budgets: tuple[Fraction, ...]) -> list[tuple[Fraction, ...]]:
    return [budgets] if len(budgets) > 1 else []


def _column(answer: Answer, name: str, entry: str, budgets: Sequence[Fraction]) -> Column:
    """The ratios of one store, package by package, budget by budget."""
    return [one.ratios.get((entry, budget)) for budget in budgets for one in answer.sets[name]]


def _shift(answer: Answer, name: str, budgets: Sequence[Fraction], drawn: Floats) -> Shift:
    first, second = (
        [_column(answer, side, entry, budgets) for entry in answer.entries]
        for side in (PACKAGE, name)
    )
    packages = len(answer.question.cases)
    gaps: list[list[Fraction]] = [[] for _ in range(packages)]
    for one, other in zip(first, second, strict=True):
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            if a is not None and b is not None:
                gaps[place % packages].append(abs(b - a))
    means = np.array([[_mean(found)] for found in gaps])
    undefined = Counter(
        reason
        for budget in budgets
        for one in answer.sets[name]
        if (reason := one.optima[budget].undefined)
    )
    return Shift(
        budget=budgets[0] if len(budgets) == 1 else None,
        change=intervals(means, drawn)[0],
        pairs=sum(len(found) for found in gaps),
        ranking=ranking(
            answer.entries,
            first,
            second,
            np.tile(drawn, len(budgets)) if packages > 1 else None,
        ),
        undefined=dict(sorted(undefined.items())),
    )


def _row(answer: Answer, entry: str, budget: Fraction, drawn: Floats) -> Row:
    at = entry, budget
    columns = np.array(
        [[_number(one) for one in _column(answer, name, entry, [budget])] for name in answer.sets]
    ).T
    found = intervals(columns, drawn)
    missing: Counter[str] = Counter()
    for kept, one in zip(answer.kept, answer.sets[PACKAGE], strict=True):
        if at in kept.failed:
            missing[FAILED] += 1
        elif at not in kept.stores:
            missing[ABSENT] += 1
        elif reason := one.optima[budget].undefined:
            missing[reason] += 1
    labels, both = _drawn(answer, entry, budget, drawn)
    return Row(
        entry,
        budget,
        dict(zip(answer.sets, found, strict=True)),
        dict(sorted(missing.items())),
        labels,
        both,
        _bounds(answer, entry, budget),
    )


def _drawn(
    answer: Answer, entry: str, budget: Fraction, drawn: Floats
) -> tuple[Spread | None, tuple[float, float] | None]:
    """The spread over draws of labels, and over draws of labels and packages together."""
    values = np.array(
        [[_number(one.ratios.get((entry, budget))) for one in run] for run in answer.draws]
    )
    if not values.size or np.isnan(values).all():
        return None, None
    there = ~np.isnan(values)
    filled = np.where(there, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = filled.sum(axis=1) / there.sum(axis=1)
        mixed = (drawn @ filled.T) / (drawn @ there.T.astype(np.float64))
    low, high = np.nanpercentile(means, (0, 100) if len(values) < FEWEST else TAILS)
    spread = Spread(
        len(values), float(np.nanmean(means)), float(low), float(high), int((~there).sum())
    )
    if values.shape[1] < 2:
        return spread, None
    low, high = np.nanpercentile(mixed, TAILS)
    return spread, (float(low), float(high))


def _bounds(answer: Answer, entry: str, budget: Fraction) -> MeanBounds | None:
    found = [one[entry, budget] for one in answer.bounds if (entry, budget) in one]
    if NOT_CERTIFIED in found:
        return None
    return mean_bounds([one for one in found if isinstance(one, Bounds)])


def _mean(numbers: Sequence[Fraction]) -> float:
    return float(sum(numbers, Fraction(0)) / len(numbers)) if numbers else math.nan


def _number(ratio: Fraction | None) -> float:
    return math.nan if ratio is None else float(ratio)

"""Whether a ranking survives other labels: Kendall's tau-b, Spearman's rho, and who swaps places.

Items are ranked by their mean ratio over packages. Both rankings use the packages where an item has
a ratio under both label sets. Intervals come from packages drawn again with replacement, the same
draws for both rankings; a draw in which an item has no ratio, or all are tied, counts for neither.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np

from memaudit.label_audit.raters import PACKAGE
from memaudit.label_audit.ratio_bounds import Bounds, MeanBounds, mean_bounds
from memaudit.label_audit.ratios import Answer
from memaudit.scoring.ratio import NOT_CERTIFIED
from memaudit.stats.intervals import TAILS, Floats, Interval, draws, intervals, outer_percentiles
from memaudit.stats.rank_correlation import by_row, exact_kendall

Column = Sequence[Fraction | None]
"""One item's ratio in every package."""

PLACES = 9
"""Means of drawn packages that agree to so many places are tied: the rest is rounding."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A rank correlation and the middle 95 % of it over draws; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """`ranked` items have a mean under both label sets.

    `swapped` pairs are ordered the other way round, `tied` ones are tied under one set alone.
    `preserved`: there are neither. `stays` is the share of draws where that is so.
    """

    ranked: int
    preserved: bool
    swapped: tuple[tuple[str, str], ...]
    tied: tuple[tuple[str, str], ...]
    tau: Correlation
    rho: Correlation
    stays: float | None


def ranking(
    names: Sequence[str], first: Sequence[Column], second: Sequence[Column], drawn: Floats | None
) -> Ranking:
    """The items' ratios under two label sets, one column an item, packages in the same order.

    `drawn` says how often each package is drawn; None where there are too few to draw from.
    """
    means: list[tuple[str, Fraction, Fraction]] = []
    columns: list[list[tuple[Fraction, Fraction] | None]] = []
    for name, one, other in zip(names, first, second, strict=True):
        both = [None if a is None or b is None else (a, b) for a, b in zip(one, other, strict=True)]
        there = [pair for pair in both if pair is not None]
        if there:
            sides = ([a for a, _ in there], [b for _, b in there])
            one_mean, other_mean = (sum(side, Fraction(0)) / len(there) for side in sides)
            means.append((name, one_mean, other_mean))
            columns.append(both)
    tau = exact_kendall([a for _, a, _ in means], [b for _, _, b in means])
    signs = {
        (one[0], other[0]): (_sign(one[1] - other[1]), _sign(one[2] - other[2]))
        for one, other in combinations(means, 2)
    }
    taus, rhos, stays = _resampled(columns, drawn)
    return Ranking(
        ranked=len(means),
        preserved=tau.same_order,
        swapped=tuple(pair for pair, (a, b) in signs.items() if a * b < 0),
        tied=tuple(pair for pair, (a, b) in signs.items() if a != b and not a * b),
        tau=Correlation(tau.value, *_middle(taus)),
        rho=Correlation(spearman([a for _, a, _ in means], [b for _, _, b in means]),
                        *_middle(rhos)),
        stays=float(stays.mean()) if len(stays) else None,
    )  # fmt: skip


def spearman(first: Sequence[Fraction], second: Sequence[Fraction]) -> float | None:
    """Spearman's rho with mean ranks for ties; None where one ranking orders nothing.

    The sum of an item's signs against all others is twice its rank, less a constant.
    """
    one, other = ([sum(_sign(a - b) for b in side) for a in side] for side in (first, second))
    square, other_square = sum(a * a for a in one), sum(b * b for b in other)
    if not square or not other_square:
        return None
    product = sum(a * b for a, b in zip(one, other, strict=True))
    # Equal factors, as without ties, give a root without rounding.
    return product / (square if square == other_square else sqrt(square * other_square))


def _resampled(
    columns: Sequence[Sequence[tuple[Fraction, Fraction] | None]], drawn: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """Tau and rho of every draw, where defined, and whether the order stays."""
    nothing = np.zeros(0)
    if len(columns) < 2 or drawn is None:
        return nothing, nothing, nothing
    defined = np.array([[pair is not None for pair in column] for column in columns]).T
    means = []
    for side in (0, 1):
        values = np.array(
            [[0.0 if pair is None else float(pair[side]) for pair in column] for column in columns]
        ).T
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn_means = (drawn @ values) / (drawn @ defined.astype(np.float64))
        means.append(np.round(drawn_means, PLACES))
    whole = ~np.isnan(means[0]).any(axis=1)
    one, other = (side[whole] for side in means)
    rhos, taus = by_row(one, other)
    signs, other_signs = (np.sign(side[:, :, None] - side[:, None, :]) for side in (one, other))
    same = (signs == other_signs).all(axis=(1, 2)).astype(np.float64)
    return taus[~np.isnan(taus)], rhos[~np.isnan(rhos)], same


def _middle(values: Floats) -> tuple[float | None, float | None]:
    return outer_percentiles(values) if len(values) else (None, None)


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


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

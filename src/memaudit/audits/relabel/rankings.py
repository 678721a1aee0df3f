"""Whether a ranking survives other labels: Kendall's tau-b, Spearman's rho, and who swaps places.

Items are ranked by their mean ratio over packages. Both rankings use the packages where an item has
a ratio under both label sets. Intervals come from packages drawn again with replacement, the same
draws for both rankings; a draw in which an item has no ratio, or all are tied, counts for neither.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np

from memaudit.audits.rank_correlation import by_row
from memaudit.audits.sensitivity.tau import kendall
from memaudit.audits.statistics import Floats, outer_percentiles

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
    tau = kendall([a for _, a, _ in means], [b for _, _, b in means])
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

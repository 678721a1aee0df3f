"""Kendall's tau-b and Spearman's rho with ties: exact for two rankings, arrays for resamples."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np

from memaudit.kernel.stats.bootstrap import Floats


@dataclass(frozen=True, slots=True)
class Tau:
    """Pairs of items by how two rankings order them; a tie is an equal value."""

    concordant: int = 0
    discordant: int = 0
    tied_in_first: int = 0
    tied_in_second: int = 0

    @property
    def value(self) -> float | None:
        """(C - D) / sqrt((pairs untied in the first) (pairs untied in the second)).

        None where one ranking orders nothing: fewer than two items, or all tied.
        """
        ordered = self.concordant + self.discordant
        first, second = ordered + self.tied_in_second, ordered + self.tied_in_first
        return _ratio(self.concordant - self.discordant, first, second)

    @property
    def same_order(self) -> bool:
        """Whether every pair is ordered, or tied, alike."""
        return not (self.discordant or self.tied_in_first or self.tied_in_second)


def exact_kendall(first: Sequence[Fraction], second: Sequence[Fraction]) -> Tau:
    """Two values of the same items, in the same order of items."""
    counts = dict.fromkeys(Tau.__slots__, 0)
    for (a, b), (c, d) in combinations(zip(first, second, strict=True), 2):
        in_first, in_second = sign(a - c), sign(b - d)
        if not in_first and not in_second:
            continue
        if not in_first:
            counts["tied_in_first"] += 1
        elif not in_second:
            counts["tied_in_second"] += 1
        else:
            counts["concordant" if in_first == in_second else "discordant"] += 1
    return Tau(**counts)


def exact_spearman(first: Sequence[Fraction], second: Sequence[Fraction]) -> float | None:
    """Spearman's rho with mean ranks for ties; None where one ranking orders nothing.

    The sum of an item's signs against all others is twice its rank, less a constant.
    """
    ranks, others = ([sum(sign(a - b) for b in side) for a in side] for side in (first, second))
    product = sum(a * b for a, b in zip(ranks, others, strict=True))
    return _ratio(product, sum(a * a for a in ranks), sum(b * b for b in others))


def _ratio(both: int, of_first: int, of_second: int) -> float | None:
    if not of_first or not of_second:
        return None
    # Equal factors, as without ties, give a root without rounding.
    return both / (of_first if of_first == of_second else sqrt(of_first * of_second))


def sign(number: Fraction) -> int:
    """-1, 0 or 1."""
    return (number > 0) - (number < 0)


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation of n points with its interval; NaN where it is undefined."""

    n: int
    value: float
    low: float
    high: float


def row_correlations(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Rho and tau-b of every row of two tables with few columns, compared pair by pair."""
    signs_x = np.sign(x[:, :, None] - x[:, None, :])
    signs_y = np.sign(y[:, :, None] - y[:, None, :])
    # How many are below less how many are above is the mid-rank, up to a factor and a constant.
    ranks_x, ranks_y = signs_x.sum(axis=2), signs_y.sum(axis=2)
    return (
        _ratios((ranks_x * ranks_y).sum(1), (ranks_x**2).sum(1), (ranks_y**2).sum(1)),
        _ratios(
            (signs_x * signs_y).sum((1, 2)), (signs_x**2).sum((1, 2)), (signs_y**2).sum((1, 2))
        ),
    )


def _ratios(both: Floats, of_x: Floats, of_y: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = np.where((of_x > 0) & (of_y > 0), both / np.sqrt(of_x * of_y), np.nan)
    return result

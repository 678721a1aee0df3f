"""Rank correlations with ties: exact for two rankings, vectorised with bootstrap intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from memaudit.stats.intervals import Floats, outer_percentiles

Places = NDArray[np.int64]
AT_ONCE = 200
"""Resamples ranked at once."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation of n points with its interval; NaN where it is undefined."""

    n: int
    value: float
    low: float
    high: float


def spearman(x: Floats, y: Floats, counts: Floats | None = None) -> Floats:
    """Rho for each row of `counts`: how often every point is drawn; once each by default."""
    weights = np.ones((1, len(x))) if counts is None else counts
    if not len(x):
        return np.full(len(weights), np.nan)
    parts = [
        _pearson(_mid_ranks(x, some), _mid_ranks(y, some), some)
        for some in np.array_split(weights, -(-len(weights) // AT_ONCE))
    ]
    return np.concatenate(parts)


def kendall(
    x: Floats, y: Floats, cluster: Places | None = None, counts: Floats | None = None
) -> Floats:
    """Tau-b for each row of `counts`: how often every cluster is drawn; all once by default."""
    own = np.zeros(len(x), np.int64) if cluster is None else cluster
    weights = np.ones((1, int(own.max(initial=-1)) + 1)) if counts is None else counts
    many = weights.shape[1]
    both, of_x, of_y = (np.zeros((many, many)) for _ in range(3))
    member = np.zeros((len(x), many))
    member[np.arange(len(x)), own] = 1
    for one in range(many):
        mine = own == one
        signs_x = np.sign(x[mine][:, None] - x[None, :])
        signs_y = np.sign(y[mine][:, None] - y[None, :])
        both[one] = (signs_x * signs_y).sum(axis=0) @ member
        of_x[one] = np.abs(signs_x).sum(axis=0) @ member
        of_y[one] = np.abs(signs_y).sum(axis=0) @ member
    top, left, right = (((weights @ m) * weights).sum(axis=1) for m in (both, of_x, of_y))
    return _shared(top, left, right)


def by_row(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Rho and tau-b of every row of two tables with few columns, compared pair by pair."""
    signs_x = np.sign(x[:, :, None] - x[:, None, :])
    signs_y = np.sign(y[:, :, None] - y[:, None, :])
    # How many are below less how many are above is the mid-rank, up to a factor and a constant.
    ranks_x, ranks_y = signs_x.sum(axis=2), signs_y.sum(axis=2)
    return (
        _shared((ranks_x * ranks_y).sum(1), (ranks_x**2).sum(1), (ranks_y**2).sum(1)),
        _shared(
            (signs_x * signs_y).sum((1, 2)), (signs_x**2).sum((1, 2)), (signs_y**2).sum((1, 2))
        ),
    )


def _shared(both: Floats, of_x: Floats, of_y: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where((of_x > 0) & (of_y > 0), both / np.sqrt(of_x * of_y), np.nan)
    return found


def interval_of(value: float, resampled: Floats, n: int) -> Correlation:
    """A correlation with the outer percentiles of its resamples, without undefined ones."""
    whole = resampled[~np.isnan(resampled)]
    if np.isnan(value) or not len(whole):
        return Correlation(n, float(value), float("nan"), float("nan"))
    return Correlation(n, float(value), *outer_percentiles(whole))


def _mid_ranks(values: Floats, counts: Floats) -> Floats:
    """Mid-ranks of every point in every resample, up to a constant."""
    _, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    heavy = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks: Floats = (np.cumsum(heavy, axis=1) - heavy / 2)[:, place]
    return ranks


def _pearson(x: Floats, y: Floats, counts: Floats) -> Floats:
    total = counts.sum(axis=1, keepdims=True)
    x = x - (counts * x).sum(axis=1, keepdims=True) / total
    y = y - (counts * y).sum(axis=1, keepdims=True) / total
    top, of_x, of_y = ((counts * a * b).sum(axis=1) for a, b in ((x, y), (x, x), (y, y)))
    tiny = 1e-9 * total[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where((of_x > tiny) & (of_y > tiny), top / np.sqrt(of_x * of_y), np.nan)
    return found


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
        if not first or not second:
            return None
        # Equal factors, as without ties, give a root without rounding.
        return (self.concordant - self.discordant) / (
            first if first == second else sqrt(first * second)
        )

    @property
    def same_order(self) -> bool:
        """Whether every pair is ordered, or tied, alike."""
        return not (self.discordant or self.tied_in_first or self.tied_in_second)


def exact_kendall(first: Sequence[Fraction], second: Sequence[Fraction]) -> Tau:
    """Two values of the same items, in the same order of items."""
    counts = dict.fromkeys(Tau.__slots__, 0)
    for (a, b), (c, d) in combinations(zip(first, second, strict=True), 2):
        one, other = _sign(a - c), _sign(b - d)
        if not one and not other:
            continue
        if not one:
            counts["tied_in_first"] += 1
        elif not other:
            counts["tied_in_second"] += 1
        else:
            counts["concordant" if one == other else "discordant"] += 1
    return Tau(**counts)


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)

"""Rank correlations with ties, over clustered points, with bootstrap intervals over clusters.

Spearman's rho is Pearson's correlation of mid-ranks. Kendall's tau-b is (concordant - discordant) /
sqrt(pairs not tied in x · pairs not tied in y). Both are undefined (NaN) where one side is constant.
A resample repeats whole clusters; a point and its copy are tied, which tau-b leaves out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.statistics import LEVEL, Floats

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
    """Tau-b for each row of `counts`: how often every cluster is drawn; once each by default."""
    own = np.arange(len(x)) if cluster is None else cluster
    many = int(own.max()) + 1 if len(own) else 0
    weights = np.ones((1, many)) if counts is None else counts
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
    top, left, right = (np.einsum("ra,ab,rb->r", weights, m, weights) for m in (both, of_x, of_y))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where((left > 0) & (right > 0), top / np.sqrt(left * right), np.nan)
    return found


def interval_of(value: float, resampled: Floats, n: int) -> Correlation:
    """A correlation with the outer percentiles of its resamples, without undefined ones."""
    whole = resampled[~np.isnan(resampled)]
    if np.isnan(value) or not len(whole):
        return Correlation(n, float(value), float("nan"), float("nan"))
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(whole, [tail, 100 - tail])
    return Correlation(n, float(value), float(low), float(high))


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

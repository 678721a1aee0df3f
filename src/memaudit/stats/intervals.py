"""Intervals and paired tests over packages, vectorised; undefined values are NaN and are left out.

Bootstrap: packages are drawn with replacement, the same draws for every column, so differences
between columns are paired. Intervals are percentiles of the resampled means. The paired test flips
the signs of the differences at random: its p-value is the share of flips whose mean is at least as
far from 0 as the one seen. All flips are tried where there are few packages, else FLIPS of them: so
many that a clear difference stays clear after Holm's correction over some hundred pairs. Rows that
are no evidence of their own, such as copies of one package, are drawn and flipped together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

RESAMPLES = 2000
FLIPS = 1 << 15
AT_ONCE = 1 << 12
LEVEL = 0.95
TAILS = (100 * (1 - LEVEL) / 2, 100 - 100 * (1 - LEVEL) / 2)
"""The percentiles at the two ends of an interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over packages with its bootstrap interval; NaN where nothing is defined."""

    n: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference(Interval):
    """A mean paired difference, its interval, and the p-value of the sign-flip test."""

    p: float


def draws(packages: int, seed: int = 0, resamples: int = RESAMPLES) -> Floats:
    """How often each package is drawn in each resample: one row a resample."""
    dice = np.random.default_rng(seed)
    drawn = dice.integers(0, packages, size=(resamples, packages))
    drawn += np.arange(resamples)[:, None] * packages
    counts = np.bincount(drawn.ravel(), minlength=resamples * packages)
    return counts.reshape(resamples, packages).astype(np.float64)


def intervals(values: Floats, drawn: Floats) -> list[Interval]:
    """One interval per column of `values` (packages by columns)."""
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)
    count = defined.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = filled.sum(axis=0) / count
        resampled = (drawn @ filled) / (drawn @ defined.astype(np.float64))
        low, high = _percentiles(resampled)
    return [
        Interval(int(n), float(mean), float(a), float(b))
        for n, mean, a, b in zip(count, means, low, high, strict=True)
    ]


def _percentiles(resampled: Floats) -> tuple[Floats, Floats]:
    """The outer percentiles of each column, without resamples that drew nothing defined."""
    low, high = np.full((2, resampled.shape[1]), np.nan)
    for column in range(resampled.shape[1]):
        whole = resampled[:, column][~np.isnan(resampled[:, column])]
        if len(whole):
            low[column], high[column] = outer_percentiles(whole)
    return low, high


def outer_percentiles(values: Sequence[float] | Floats) -> tuple[float, float]:
    """The percentiles that leave LEVEL of the values between them; there must be values."""
    low, high = np.percentile(values, TAILS)
    return float(low), float(high)


def differences(
    values: Floats, pairs: Sequence[tuple[int, int]], drawn: Floats, cluster: Places | None = None
) -> list[Difference]:
    """For each pair of columns, first minus second, over packages where both are defined.

    Rows with the same number in `cluster` are flipped together; `drawn` draws them together.
    """
    if not pairs:
        return []
    gaps = np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1)
    found = intervals(gaps, drawn)
    sums = np.where(np.isnan(gaps), 0.0, gaps)
    if cluster is not None:
        rows, sums = sums, np.zeros((int(cluster.max()) + 1, len(pairs)))
        np.add.at(sums, cluster, rows)
    chances = sign_flip_test(sums)
    return [
        Difference(one.n, one.mean, one.low, one.high, p)
        for one, p in zip(found, chances, strict=True)
    ]


def sign_flip_test(gaps: Floats, seed: int = 0) -> list[float]:
    """Two-sided p-values of the columns: how often flipped signs give a sum as far from 0."""
    packages = len(gaps)
    # A hair of slack: the flip that changes nothing must count as equally far.
    seen = np.abs(gaps.sum(axis=0)) * (1 - 1e-9)
    exact = packages < FLIPS.bit_length()
    flips = 1 << packages if exact else FLIPS
    dice = np.random.default_rng([seed, 1])
    beyond = np.zeros(gaps.shape[1], np.int64)
    for start in range(0, flips, AT_ONCE):
        count = min(AT_ONCE, flips - start)
        if exact:
            bits = (np.arange(start, start + count)[:, None] >> np.arange(packages)) & 1
        else:
            bits = dice.integers(0, 2, size=(count, packages), dtype=np.int8)
        beyond += (np.abs((bits * 2.0 - 1.0) @ gaps) >= seen).sum(axis=0)
    if exact:
        return [float(count / flips) for count in beyond]
    return [float((1 + count) / (1 + flips)) for count in beyond]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: what each p-value is worth among all of them."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, so_far = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        so_far = max(so_far, min(1.0, p_values[i] * (len(p_values) - rank)))
        adjusted[i] = so_far
    return adjusted

"""Intervals and paired tests over packages, vectorised; undefined values are NaN and are left out.

Bootstrap: packages are drawn with replacement, the same draws for every column, so differences
between columns are paired. Intervals are percentiles of the resampled means. The paired test flips
the signs of the differences at random: its p-value is the share of flips whose mean is at least as
far from 0 as the one seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over packages with its bootstrap interval; NaN where nothing is defined."""

    n: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean paired difference, its interval, and the p-value of the sign-flip test."""

    n: int
    mean: float
    low: float
    high: float
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
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.full((2, resampled.shape[1]), np.nan)
    for column in range(resampled.shape[1]):
        whole = resampled[:, column][~np.isnan(resampled[:, column])]
        if len(whole):
            low[column], high[column] = np.percentile(whole, [tail, 100 - tail])
    return low, high


def differences(
    values: Floats, pairs: Sequence[tuple[int, int]], drawn: Floats, seed: int = 0
) -> list[Difference]:
    """For each pair of columns, first minus second, over packages where both are defined."""
    if not pairs:
        return []
    gaps = np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1)
    found = intervals(gaps, drawn)
    filled = np.where(np.isnan(gaps), 0.0, gaps)
    dice = np.random.default_rng([seed, 1])
    flips = dice.integers(0, 2, size=drawn.shape).astype(np.float64) * 2 - 1
    # A hair of slack: the flip that changes nothing must count as equally far.
    seen = np.abs(filled.sum(axis=0)) * (1 - 1e-12)
    beyond = (np.abs(flips @ filled) >= seen).sum(axis=0)
    return [
        Difference(one.n, one.mean, one.low, one.high, float((1 + count) / (1 + len(drawn))))
        for one, count in zip(found, beyond, strict=True)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: what each p-value is worth among all of them."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, so_far = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        so_far = max(so_far, min(1.0, p_values[i] * (len(p_values) - rank)))
        adjusted[i] = so_far
    return adjusted

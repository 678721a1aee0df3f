"""Paired differences between columns, the sign-flip test, and Holm's correction.

The paired test flips the signs of the differences at random: its p-value is the share of flips
whose mean is at least as far from 0 as the observed one. With few packages all flips are tried,
otherwise FLIPS of them: enough that a clear difference stays clear after Holm's correction over a
few hundred pairs. Rows that are not independent evidence, such as copies of one package, are drawn
and flipped together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memaudit.kernel.stats.bootstrap import Floats, Indices, Interval, mean_intervals

FLIPS = 1 << 15
AT_ONCE = 1 << 12


@dataclass(frozen=True, slots=True)
class Difference(Interval):
    """A mean paired difference, its interval, and the p-value of the sign-flip test."""

    p: float


def paired_differences(
    values: Floats, pairs: Sequence[tuple[int, int]], counts: Floats, cluster: Indices | None = None
) -> list[Difference]:
    """For each pair of columns, first minus second, over packages where both are defined.

    Rows with the same number in `cluster` are flipped together; `counts` draws them together.
    """
    if not pairs:
        return []
    gaps = np.stack([values[:, a] - values[:, b] for a, b in pairs], axis=1)
    sums = np.where(np.isnan(gaps), 0.0, gaps)
    # Copies of a package rise and fall together. Flipped one by one, they would count as so many
    # independent observations.
    if cluster is not None:
        rows, sums = sums, np.zeros((int(cluster.max()) + 1, len(pairs)))
        np.add.at(sums, cluster, rows)
    return [
        Difference(interval.n, interval.mean, interval.low, interval.high, p)
        for interval, p in zip(mean_intervals(gaps, counts), sign_flip_test(sums), strict=True)
    ]


def sign_flip_test(gaps: Floats, seed: int = 0) -> list[float]:
    """Two-sided p-values of the columns: how often flipped signs give a sum as far from 0."""
    packages = len(gaps)
    # A little slack: the flip that changes nothing must count as equally far.
    observed = np.abs(gaps.sum(axis=0)) * (1 - 1e-9)
    # There are 2^packages flips: where these are no more than FLIPS, all of them are tried and the
    # p-value is exact.
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
        beyond += (np.abs((bits * 2.0 - 1.0) @ gaps) >= observed).sum(axis=0)
    if exact:
        return [float(count / flips) for count in beyond]
    # The observed signs are one of the flips. Without this 1 a p-value could be 0, which no number
    # of random flips can show.
    return [float((1 + count) / (1 + flips)) for count in beyond]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: each p-value adjusted for all of them, in the given order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, highest = [0.0] * len(p_values), 0.0
    # From the smallest on, `highest` is the largest adjusted so far: a hypothesis cannot be easier
    # to reject than one with more evidence against it.
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, p_values[i] * (len(p_values) - rank)))
        adjusted[i] = highest
    return adjusted

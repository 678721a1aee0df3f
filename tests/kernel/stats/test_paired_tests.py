"""Paired differences, the sign-flip test and Holm's correction, worked by hand."""

import numpy as np
import pytest

from memaudit.kernel.stats.bootstrap import resample_counts
from memaudit.kernel.stats.paired_tests import holm, paired_differences


def test_differences_are_paired() -> None:
    base = np.linspace(0, 1, 12)
    values = np.stack([base + 0.1, base], axis=1)
    (gap,) = paired_differences(values, [(0, 1)], resample_counts(12))
    assert gap.mean == pytest.approx(0.1)
    assert (gap.low, gap.high) == (pytest.approx(0.1), pytest.approx(0.1))
    # Of 2**12 ways to flip the signs, two are as far out: p is about 2/4096.
    assert gap.p < 0.01


def test_no_difference_is_no_evidence() -> None:
    """Equal columns have p = 1."""
    values = np.tile(np.linspace(0, 1, 9)[:, None], 2)
    (gap,) = paired_differences(values, [(0, 1)], resample_counts(9))
    assert (gap.mean, gap.p) == (0.0, 1.0)


def test_sign_flips_by_hand() -> None:
    """Differences 1, 1, 1: of 8 flips two reach a sum of 3, so p is 1/4."""
    values = np.array([[1.0, 0.0]] * 3)
    (gap,) = paired_differences(values, [(0, 1)], resample_counts(3, resamples=20_000))
    assert gap.p == pytest.approx(0.25, abs=0.02)


def test_holm_by_hand() -> None:
    """0.01 * 3, then max(0.03, 0.02 * 2), then max(0.04, 0.5)."""
    assert holm([0.5, 0.01, 0.02]) == pytest.approx([0.5, 0.03, 0.04])
    assert holm([]) == []


def test_rows_of_one_cluster_flip_together() -> None:
    """Gaps 3, 3 (copies) and -1, in all 5: together |±6 ±1| is never less, alone |±3 ±3 ±1| is."""
    values = np.array([[3.0, 0.0], [3.0, 0.0], [0.0, 1.0]])
    cluster = np.array([0, 0, 1])
    drawn = resample_counts(2)[:, cluster]
    (found,) = paired_differences(values, [(0, 1)], drawn, cluster)
    assert (found.n, found.mean, found.p) == (3, 5 / 3, 1.0)
    (alone,) = paired_differences(values, [(0, 1)], drawn)
    assert alone.p == 4 / 8  # the threes have one sign

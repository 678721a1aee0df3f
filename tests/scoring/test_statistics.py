"""Intervals and tests, worked by hand and against properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.stats.intervals import differences, draws, holm, intervals


def test_draws_are_resamples() -> None:
    """Each resample draws as many packages as there are; the same seed draws the same."""
    drawn = draws(7, seed=3, resamples=50)
    assert drawn.shape == (50, 7)
    assert (drawn.sum(axis=1) == 7).all()
    assert (draws(7, seed=3, resamples=50) == drawn).all()
    assert (draws(7, seed=4, resamples=50) != drawn).any()


def test_mean_and_interval_of_two_values() -> None:
    """Of 0 and 1, resampled means are 0, 1/2, 1 with chances 1/4, 1/2, 1/4."""
    drawn = draws(2, resamples=20_000)
    (one,) = intervals(np.array([[0.0], [1.0]]), drawn)
    assert (one.n, one.mean, one.low, one.high) == (2, 0.5, 0.0, 1.0)
    means = drawn[:, 1] / 2
    assert abs((means == 0.5).mean() - 0.5) < 0.02


def test_undefined_values_are_left_out() -> None:
    """NaN is neither 0 nor 1: the mean is that of the others, and n counts them."""
    (one,) = intervals(np.array([[0.2], [math.nan], [0.4]]), draws(3))
    assert one.n == 2
    assert one.mean == pytest.approx(0.3)
    assert (one.low, one.high) == (pytest.approx(0.2), pytest.approx(0.4))


def test_nothing_defined() -> None:
    """No mean, no interval, no warning."""
    (one,) = intervals(np.array([[math.nan], [math.nan]]), draws(2))
    assert one.n == 0
    assert math.isnan(one.mean)
    assert math.isnan(one.low)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_interval_holds_the_mean(values: list[float]) -> None:
    """Percentiles lie around the mean, inside the range of the values."""
    (one,) = intervals(np.array(values)[:, None], draws(len(values)))
    assert min(values) - 1e-9 <= one.low <= one.high <= max(values) + 1e-9
    assert one.low - 1e-9 <= one.mean <= one.high + 1e-9


def test_coverage_of_the_interval() -> None:
    """Over many samples with a known mean, about 95 in 100 intervals hold it."""
    dice = np.random.default_rng(5)
    values = dice.exponential(1.0, size=(60, 400))
    held = [one.low <= 1.0 <= one.high for one in intervals(values, draws(60))]
    assert 0.88 <= np.mean(held) <= 0.98


def test_differences_are_paired() -> None:
    """A constant lead has an interval of no width, however much the packages differ."""
    base = np.linspace(0, 1, 12)
    values = np.stack([base + 0.1, base], axis=1)
    (gap,) = differences(values, [(0, 1)], draws(12))
    assert gap.mean == pytest.approx(0.1)
    assert (gap.low, gap.high) == (pytest.approx(0.1), pytest.approx(0.1))
    # Of 2**12 ways to flip the signs, two are as far out: p is about 2/4096.
    assert gap.p < 0.01


def test_no_difference_is_no_evidence() -> None:
    """Equal columns have p = 1."""
    values = np.tile(np.linspace(0, 1, 9)[:, None], 2)
    (gap,) = differences(values, [(0, 1)], draws(9))
    assert (gap.mean, gap.p) == (0.0, 1.0)


def test_sign_flips_by_hand() -> None:
    """Differences 1, 1, 1: of 8 flips two reach a sum of 3, so p is 1/4."""
    values = np.array([[1.0, 0.0]] * 3)
    (gap,) = differences(values, [(0, 1)], draws(3, resamples=20_000))
    assert gap.p == pytest.approx(0.25, abs=0.02)


def test_holm_by_hand() -> None:
    """0.01 * 3, then max(0.03, 0.02 * 2), then max(0.04, 0.5)."""
    assert holm([0.5, 0.01, 0.02]) == pytest.approx([0.5, 0.03, 0.04])
    assert holm([]) == []


def test_rows_of_one_cluster_flip_together() -> None:
    """Gaps 3, 3 (copies) and -1, in all 5: together |±6 ±1| is never less, alone |±3 ±3 ±1| is."""
    values = np.array([[3.0, 0.0], [3.0, 0.0], [0.0, 1.0]])
    cluster = np.array([0, 0, 1])
    drawn = draws(2)[:, cluster]
    (found,) = differences(values, [(0, 1)], drawn, cluster)
    assert (found.n, found.mean, found.p) == (3, 5 / 3, 1.0)
    (alone,) = differences(values, [(0, 1)], drawn)
    assert alone.p == 4 / 8  # the threes have one sign

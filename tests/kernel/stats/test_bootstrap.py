"""Intervals and tests, worked by hand and against properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.stats.agreement_coefficients import vectorised_coefficients
from memaudit.kernel.stats.bootstrap import (
    PercentileInterval,
    Pool,
    mean_intervals,
    pool_of_cells,
    pool_of_packages,
    resample_counts,
    table_intervals,
)


def test_draws_are_resamples() -> None:
    drawn = resample_counts(7, seed=3, resamples=50)
    assert drawn.shape == (50, 7)
    assert (drawn.sum(axis=1) == 7).all()
    assert (resample_counts(7, seed=3, resamples=50) == drawn).all()
    assert (resample_counts(7, seed=4, resamples=50) != drawn).any()


def test_mean_and_interval_of_two_values() -> None:
    """Of 0 and 1, resampled means are 0, 1/2, 1 with chances 1/4, 1/2, 1/4."""
    drawn = resample_counts(2, resamples=20_000)
    (one,) = mean_intervals(np.array([[0.0], [1.0]]), drawn)
    assert (one.n, one.mean, one.low, one.high) == (2, 0.5, 0.0, 1.0)
    means = drawn[:, 1] / 2
    assert abs((means == 0.5).mean() - 0.5) < 0.02


def test_undefined_values_are_left_out() -> None:
    """NaN is neither 0 nor 1: the mean is that of the others, and n counts them."""
    (one,) = mean_intervals(np.array([[0.2], [math.nan], [0.4]]), resample_counts(3))
    assert one.n == 2
    assert one.mean == pytest.approx(0.3)
    assert (one.low, one.high) == (pytest.approx(0.2), pytest.approx(0.4))


def test_nothing_defined() -> None:
    (one,) = mean_intervals(np.array([[math.nan], [math.nan]]), resample_counts(2))
    assert one.n == 0
    assert math.isnan(one.mean)
    assert math.isnan(one.low)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_interval_holds_the_mean(values: list[float]) -> None:
    (one,) = mean_intervals(np.array(values)[:, None], resample_counts(len(values)))
    assert min(values) - 1e-9 <= one.low <= one.high <= max(values) + 1e-9
    assert one.low - 1e-9 <= one.mean <= one.high + 1e-9


def test_coverage_of_the_interval() -> None:
    """Over many samples with a known mean, about 95 in 100 intervals hold it."""
    dice = np.random.default_rng(5)
    values = dice.exponential(1.0, size=(60, 400))
    held = [one.low <= 1.0 <= one.high for one in mean_intervals(values, resample_counts(60))]
    assert 0.88 <= np.mean(held) <= 0.98


DRAWS = 20_000
MEASURE = vectorised_coefficients(2)


def percentile_intervals(
    pool: Pool, places: list[int], seed: int = 0
) -> list[PercentileInterval | None]:
    table = pool.tables(np.array(places), np.ones(len(places)), 4)
    dice = np.random.default_rng(seed)
    return table_intervals(pool, [(table, MEASURE)], DRAWS, dice)[0]


def test_cells_are_drawn_with_replacement() -> None:
    """80 of 100 cells agree: Binomial(100, 0.8) / 100 has its outer 2.5% below 0.72, above 0.87."""
    places = [0] * 40 + [3] * 40 + [1] * 10 + [2] * 10
    few_classes = pool_of_cells([np.array(places)])
    each_its_own = pool_of_cells([np.array(places), np.arange(100)])
    assert (len(few_classes.sizes), len(each_its_own.sizes)) == (4, 100)  # both ways of drawing
    for pool in (few_classes, each_its_own):
        raw = percentile_intervals(pool, places)[1]
        assert raw is not None
        assert raw.low == pytest.approx(0.72, abs=0.011)
        assert raw.high == pytest.approx(0.87, abs=0.011)


def test_packages_are_drawn_whole() -> None:
    """Ten packages of 20 cells, two of them disputed throughout.

    Binomial(10, 0.8) is below 5 with 0.6%, below 6 with 3.3%, and 10 with 10.7%: [0.5, 1]. Single
    cells would give Binomial(200, 0.8) / 200: about 0.8 +- 1.96 x 0.028.
    """
    places = [place for package in range(10) for place in [0, 3] * 10 if package < 8] + [1, 2] * 20
    packages = [f"p{number // 20}" for number in range(200)]
    wide = percentile_intervals(pool_of_packages(packages), places)[1]
    narrow = percentile_intervals(pool_of_cells([np.array(places)]), places)[1]
    assert wide == PercentileInterval(0.5, 1.0, 0)
    assert narrow is not None
    assert (narrow.low, narrow.high) == pytest.approx((0.745, 0.855), abs=0.01)


def test_undefined_draws_are_counted() -> None:
    places = [0, 3]
    kappa, raw, *_ = percentile_intervals(pool_of_cells([np.array(places)]), places)
    assert raw == PercentileInterval(1.0, 1.0, 0)
    assert kappa is not None
    assert (kappa.low, kappa.high) == (1.0, 1.0)
    assert kappa.undefined / DRAWS == pytest.approx(0.5, abs=0.02)
    assert percentile_intervals(pool_of_cells([np.array([0, 0])]), [0, 0])[0] is None


def test_a_seed_repeats_it() -> None:
    places = [0, 1, 2, 3] * 30
    pool = pool_of_cells([np.array(places)])
    assert percentile_intervals(pool, places, 3) == percentile_intervals(pool, places, 3)
    assert percentile_intervals(pool, places, 3) != percentile_intervals(pool, places, 4)


def test_cells_left_out_are_drawn_too() -> None:
    pool = pool_of_cells([np.array([0, -1, 3, -1])])
    table = pool.tables(np.array([0, -1, 3, -1]), np.array([1.0, 1.0, 2.5, 1.0]), 4)
    drawn = np.concatenate(
        [counts @ table for counts in pool.draws(DRAWS, np.random.default_rng(0))]
    )
    assert drawn.mean(axis=0) == pytest.approx([1, 0, 0, 2.5], abs=0.05)
    assert len(drawn) == DRAWS

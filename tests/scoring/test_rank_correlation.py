"""Rank correlations against hand-worked values and against pairs counted one by one."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.stats.rank_correlation import by_row, interval_of, kendall, spearman


def numbers(*values: float) -> np.ndarray:
    return np.array(values, float)


def test_by_hand() -> None:
    """1234 against 1243: d = 0, 0, 1, 1: rho = 1 - 6 · 2 / 60; 5 of 6 pairs agree: tau = 4 / 6."""
    x, y = numbers(1, 2, 3, 4), numbers(1, 2, 4, 3)
    assert spearman(x, y)[0] == pytest.approx(0.8)
    assert kendall(x, y)[0] == pytest.approx(2 / 3)
    assert (spearman(x, -x)[0], kendall(x, -x)[0]) == (pytest.approx(-1), -1)


def test_ties_by_hand() -> None:
    """x = 1, 1, 2 and y = 1, 2, 3: ranks 1.5, 1.5, 3. Two pairs agree, one is tied in x.

    rho = 1.5 / sqrt(1.5 · 2), tau-b = 2 / sqrt(2 · 3).
    """
    x, y = numbers(1, 1, 2), numbers(1, 2, 3)
    assert spearman(x, y)[0] == pytest.approx(1.5 / math.sqrt(3))
    assert kendall(x, y)[0] == pytest.approx(2 / math.sqrt(6))


def test_by_row() -> None:
    """Every row as on its own, ties and all; a row with a gap is undefined."""
    dice = np.random.default_rng(2)
    x, y = (dice.integers(0, 4, (50, 7)).astype(float) for _ in range(2))
    rho, tau = by_row(x, y)
    for at in range(50):
        assert rho[at] == pytest.approx(spearman(x[at], y[at])[0], nan_ok=True)
        assert tau[at] == pytest.approx(kendall(x[at], y[at])[0], nan_ok=True)
    x[0, 3] = math.nan
    assert math.isnan(by_row(x, y)[0][0])


def test_undefined() -> None:
    """A constant side, or no point at all."""
    for found in (spearman, kendall):
        assert math.isnan(found(numbers(1, 1, 1), numbers(1, 2, 3))[0])
        assert math.isnan(found(numbers(5), numbers(2))[0])
    assert math.isnan(spearman(numbers(), numbers())[0])
    assert math.isnan(interval_of(math.nan, numbers(0.1, 0.2), 3).low)
    assert interval_of(0.5, numbers(0.4, math.nan, 0.6), 3).low == pytest.approx(0.405)


POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)), min_size=2,
                  max_size=12)  # fmt: skip


def counted(x: list[int], y: list[int]) -> float:
    """Tau-b pair by pair."""
    agree = of_x = of_y = 0
    for a, b in combinations(range(len(x)), 2):
        dx, dy = np.sign(x[a] - x[b]), np.sign(y[a] - y[b])
        agree, of_x, of_y = agree + dx * dy, of_x + dx * dx, of_y + dy * dy
    return agree / math.sqrt(of_x * of_y) if of_x and of_y else math.nan


@given(POINTS, st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_a_resample_is_the_repeated_data(
    points: list[tuple[int, int, int]], drawn: list[int]
) -> None:
    """Counts give what copying the points of every cluster gives, for both correlations."""
    x, y, cluster = (np.array(side) for side in zip(*points, strict=True))
    cluster[0] = 2  # so that all three clusters are known
    copies = np.repeat(np.arange(len(x)), np.array(drawn)[cluster])
    counts = np.array([drawn], float)
    tau = kendall(x.astype(float), y.astype(float), cluster, counts)[0]
    assert tau == pytest.approx(counted(list(x[copies]), list(y[copies])), nan_ok=True)
    if len(copies):
        rho = spearman(x.astype(float), y.astype(float), counts[:, cluster])[0]
        again = spearman(x[copies].astype(float), y[copies].astype(float))[0]
        assert rho == pytest.approx(again, nan_ok=True, abs=1e-9)


def test_like_scipy() -> None:
    """The same numbers as the reference implementation, with many ties."""
    stats = pytest.importorskip("scipy.stats", reason="comes with scikit-learn")
    dice = np.random.default_rng(1)
    x, y = dice.integers(0, 9, 200).astype(float), dice.integers(0, 9, 200).astype(float)
    y += x / 2
    assert spearman(x, y)[0] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert kendall(x, y)[0] == pytest.approx(stats.kendalltau(x, y).statistic)

"""Rank correlations against hand-worked values and against pairs counted one by one."""

import math
from fractions import Fraction
from itertools import combinations
from math import isclose, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.lab.studies.rank_correlation import (
    Tau,
    correlation_interval,
    exact_kendall,
    exact_spearman,
    kendall,
    row_correlations,
    spearman,
)


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
    dice = np.random.default_rng(2)
    x, y = (dice.integers(0, 4, (50, 7)).astype(float) for _ in range(2))
    rho, tau = row_correlations(x, y)
    for at in range(50):
        assert rho[at] == pytest.approx(spearman(x[at], y[at])[0], nan_ok=True)
        assert tau[at] == pytest.approx(kendall(x[at], y[at])[0], nan_ok=True)
    x[0, 3] = math.nan
    assert math.isnan(row_correlations(x, y)[0][0])


def test_undefined() -> None:
    for found in (spearman, kendall):
        assert math.isnan(found(numbers(1, 1, 1), numbers(1, 2, 3))[0])
        assert math.isnan(found(numbers(5), numbers(2))[0])
    assert math.isnan(spearman(numbers(), numbers())[0])
    assert math.isnan(correlation_interval(math.nan, numbers(0.1, 0.2), 3).low)
    assert correlation_interval(0.5, numbers(0.4, math.nan, 0.6), 3).low == pytest.approx(0.405)


POINTS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)), min_size=2, max_size=12
)


def counted(x: list[int], y: list[int]) -> float:
    agree = of_x = of_y = 0
    for a, b in combinations(range(len(x)), 2):
        dx, dy = np.sign(x[a] - x[b]), np.sign(y[a] - y[b])
        agree, of_x, of_y = agree + dx * dy, of_x + dx * dx, of_y + dy * dy
    return agree / math.sqrt(of_x * of_y) if of_x and of_y else math.nan


@given(POINTS, st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_a_resample_is_the_repeated_data(
    points: list[tuple[int, int, int]], drawn: list[int]
) -> None:
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
    stats = pytest.importorskip("scipy.stats", reason="comes with scikit-learn")
    dice = np.random.default_rng(1)
    x, y = dice.integers(0, 9, 200).astype(float), dice.integers(0, 9, 200).astype(float)
    y += x / 2
    assert spearman(x, y)[0] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert kendall(x, y)[0] == pytest.approx(stats.kendalltau(x, y).statistic)


def tau(first: list[int], second: list[int]) -> Tau:
    return exact_kendall([Fraction(n) for n in first], [Fraction(n) for n in second])


def test_tau_without_ties() -> None:
    """Of three pairs two agree: (2 - 1) / 3."""
    found = tau([1, 2, 3], [1, 3, 2])
    assert (found.concordant, found.discordant) == (2, 1)
    assert found.value == 1 / 3
    assert not found.same_order


def test_tau_with_ties() -> None:
    """Four agree, one is tied in each: 4 / sqrt(5 * 5). Then 2 / sqrt(3 * 2)."""
    found = tau([1, 1, 2, 3], [1, 2, 2, 3])
    assert found == Tau(concordant=4, tied_in_first=1, tied_in_second=1)
    assert found.value == 4 / 5
    found = tau([1, 2, 3], [1, 1, 2])
    assert found == Tau(concordant=2, tied_in_second=1)
    assert isclose(found.value or 0, 2 / sqrt(6))
    assert not found.same_order


def test_shared_ties_keep_the_order() -> None:
    """Tied alike is ordered alike: of 3 pairs one is tied in both, 2 / sqrt(2 * 2) = 1."""
    found = tau([1, 1, 2], [5, 5, 9])
    assert found.value == 1
    assert found.same_order


@pytest.mark.parametrize("values", [[], [1], [2, 2]])
def test_no_tau(values: list[int]) -> None:
    assert tau(values, values).value is None
    assert tau([1, 2], [3, 3]).value is None


RANKINGS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=7)


@given(RANKINGS)
def test_tau_properties(pairs: list[tuple[int, int]]) -> None:
    """All unlike pairs counted, symmetric, reversed by a sign, 1 against itself, in [-1, 1]."""
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = tau(first, second)
    counts = [getattr(found, name) for name in Tau.__slots__]
    alike = sum(one == other for one, other in combinations(pairs, 2))
    assert sum(counts) + alike == len(pairs) * (len(pairs) - 1) // 2
    assert tau(second, first).value == found.value
    assert tau(first, first).value in (1, None)
    turned = tau(first, [-b for b in second]).value
    assert turned == (None if found.value is None else -found.value)
    assert found.value is None or -1 - 1e-12 <= found.value <= 1 + 1e-12
    if found.same_order and found.value is not None:
        assert isclose(found.value, 1)


def rho(first: list[int], second: list[int]) -> float | None:
    return exact_spearman([Fraction(n) for n in first], [Fraction(n) for n in second])


def test_exact_spearman() -> None:
    """1 - 6 sum(d^2) / (n (n^2 - 1)) without ties: ranks 1234 and 2143 give 1 - 24 / 60.

    With ties: mean ranks 1, 2.5, 2.5 against 1, 2, 3 give 1.5 / sqrt(1.5 * 2).
    """
    assert rho([1, 2, 3, 4], [2, 1, 4, 3]) == pytest.approx(0.6)
    assert (rho([1, 2], [3, 5]), rho([1, 2], [2, 1])) == (1, -1)
    assert rho([0, 1, 1], [0, 1, 2]) == pytest.approx(1.5 / sqrt(3))
    assert rho([1, 1], [0, 2]) is None
    assert rho([1], [2]) is None

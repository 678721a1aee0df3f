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
    exact_kendall,
    exact_spearman,
    row_correlations,
)


def test_by_row() -> None:
    dice = np.random.default_rng(2)
    x, y = (dice.integers(0, 4, (50, 7)).astype(float) for _ in range(2))
    rho, tau = row_correlations(x, y)
    for at in range(50):
        sides = [[Fraction(int(number)) for number in row] for row in (x[at], y[at])]
        for many, exact in ((rho, exact_spearman(*sides)), (tau, exact_kendall(*sides).value)):
            assert many[at] == pytest.approx(math.nan if exact is None else exact, nan_ok=True)
    x[0, 3] = math.nan
    assert math.isnan(row_correlations(x, y)[0][0])


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

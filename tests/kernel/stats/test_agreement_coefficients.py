"""Kappa and raw agreement: by hand, against scikit-learn, and what always holds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from memaudit.kernel.stats.agreement_coefficients import (
    Table,
    coefficients,
    kappa,
    raw_agreement,
    total,
    vectorised_coefficients,
)

SIZE = 3
counts = st.lists(st.integers(0, 6), min_size=SIZE**2, max_size=SIZE**2)


def table(*rows: tuple[int | Fraction, ...]) -> Table:
    return tuple(tuple(Fraction(entry) for entry in row) for row in rows)


def square(entries: list[int]) -> Table:
    return table(*(tuple(entries[i : i + SIZE]) for i in range(0, SIZE**2, SIZE)))


def test_by_hand() -> None:
    """Observed 35/50; expected (25 x 30 + 25 x 20) / 2500 = 1/2; so kappa (7/10 - 1/2) / (1/2)."""
    found = table((20, 5), (10, 15))
    assert kappa(found) == Fraction(2, 5)
    assert raw_agreement(found) == Fraction(7, 10)
    assert total(found) == 50


def test_weights() -> None:
    """Cells that stand for several: 35 + 5 of 45 agree, the rest is split evenly.

    Rows and columns are 37.5 and 7.5: expected (37.5^2 + 7.5^2) / 45^2 = 13/18, so kappa is
    (8/9 - 13/18) / (5/18).
    """
    found = table((35, Fraction(5, 2)), (Fraction(5, 2), 5))
    assert raw_agreement(found) == Fraction(8, 9)
    assert kappa(found) == Fraction(3, 5)


def test_undefined() -> None:
    assert kappa(table((7, 0), (0, 0))) is None
    assert raw_agreement(table((7, 0), (0, 0))) == 1
    assert coefficients(table((0, 0), (0, 0))) == (None, None)
    assert kappa(table((7, 3), (0, 0))) == 0  # one rater constant: no better than chance


@given(counts, st.lists(st.integers(1, 9), min_size=SIZE**2, max_size=SIZE**2))
def test_against_scikit_learn(entries: list[int], weights: list[int]) -> None:
    first = [place // SIZE for place, count in enumerate(entries) for _ in range(count)]
    second = [place % SIZE for place, count in enumerate(entries) for _ in range(count)]
    heavy = [weights[place] / 4 for place, count in enumerate(entries) for _ in range(count)]
    if not first:
        return
    plain = square(entries)
    weighed = table(
        *(
            tuple(entry * Fraction(weights[i * SIZE + j], 4) for j, entry in enumerate(row))
            for i, row in enumerate(plain)
        )
    )
    for own, sample_weight in ((plain, None), (weighed, heavy)):
        found = kappa(own)
        if found is None:
            assert len(set(first) | set(second)) == 1
        else:
            theirs = cohen_kappa_score(first, second, sample_weight=sample_weight)
            assert float(found) == pytest.approx(theirs, abs=1e-12)


@given(counts, st.permutations(range(SIZE)))
def test_order_does_not_matter(entries: list[int], order: list[int]) -> None:
    found = square(entries)
    turned = tuple(zip(*found, strict=True))
    moved = tuple(tuple(found[i][j] for j in order) for i in order)
    assert coefficients(turned) == coefficients(found)
    assert kappa(moved) == kappa(found)
    assert raw_agreement(moved) == raw_agreement(found)


@given(counts)
def test_kappa_of_one(entries: list[int]) -> None:
    """Kappa is 1 exactly where all cells agree on at least two categories; never above."""
    found = square(entries)
    value = kappa(found)
    used = sum(found[i][i] > 0 for i in range(SIZE))
    perfect = raw_agreement(found) == 1 and used > 1
    assert (value == 1) == perfect
    assert value is None or value <= 1


@given(counts)
def test_vectors(entries: list[int]) -> None:
    found = vectorised_coefficients(SIZE)(np.array([entries, entries], np.float64) * 0.7)
    for row in found:
        for value, exact in zip(row, coefficients(square(entries)), strict=True):
            assert np.isnan(value) if exact is None else value == pytest.approx(float(exact))

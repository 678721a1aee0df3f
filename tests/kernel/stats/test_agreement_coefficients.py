"""Kappa, raw and specific agreement: by hand, against scikit-learn, and what always holds."""

from fractions import Fraction
from typing import Literal, cast

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from memaudit.kernel.stats.agreement_coefficients import (
    DISTANCES,
    Table,
    alpha,
    coefficients,
    coincidence_rows,
    coincidence_table,
    kappa,
    raw_agreement,
    specific_agreement,
    total,
    vectorised_alpha,
    vectorised_coefficients,
)
from memaudit.lab.labels.coded_labels import COVERED_SCALE, LABEL_SCALE, SCALES, Codes, Scale
from memaudit.lab.labels.frame import CANNOT_TELL, MISSING

Level = Literal["nominal", "ordinal", "interval", "ratio"]

SIZE = 3
counts = st.lists(st.integers(0, 6), min_size=SIZE**2, max_size=SIZE**2)


def table(*rows: tuple[int | Fraction, ...]) -> Table:
    return tuple(tuple(Fraction(entry) for entry in row) for row in rows)


def square(entries: list[int]) -> Table:
    return table(*(tuple(entries[i : i + SIZE]) for i in range(0, SIZE**2, SIZE)))


def test_by_hand() -> None:
    """Observed 35/50; expected (25 x 30 + 25 x 20) / 2500 = 1/2; so kappa (7/10 - 1/2) / (1/2).

    Own agreement: 2 x 20 / (25 + 30), 2 x 15 / (25 + 20).
    """
    found = table((20, 5), (10, 15))
    assert kappa(found) == Fraction(2, 5)
    assert raw_agreement(found) == Fraction(7, 10)
    assert specific_agreement(found) == (Fraction(8, 11), Fraction(2, 3))
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
    assert specific_agreement(table((7, 0), (0, 0))) == (1, None)
    assert coefficients(table((0, 0), (0, 0))) == (None, None, None, None)
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
    assert specific_agreement(moved) == tuple(specific_agreement(found)[i] for i in order)


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


def codes(*rows: list[int]) -> Codes:
    return np.array(rows, np.int8)


def once(cells: int) -> list[Fraction]:
    """Every cell weighs 1."""
    return [Fraction(1)] * cells


def test_two_annotators_by_hand() -> None:
    """Ten cells, four of them disputed: o_01 = 4, n_0 = 14, n_1 = 6, so 1 - 19 x 4 / (14 x 6)."""
    found = codes([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    table = coincidence_table(found, once(10), COVERED_SCALE.size)
    assert table == ((10, 4), (4, 2))
    assert alpha(table, "nominal", COVERED_SCALE.values) == Fraction(2, 21)


def test_missing_labels_by_hand() -> None:
    """Three annotators, a cell of three labels, one of two, one of a single label, which is out.

    Cell 0 holds full, full, none: each ordered pair gives 1/2; full-full 1, full-none 1 each way.
    Cell 1 holds partial, partial: 2. Totals: none 1, partial 2, full 2, in all 5.
    Nominal: 1 - 4 x 2 / (25 - 1 - 4 - 4) = 1/2.
    Interval: observed 2 x 1; expected 2 (1x2/4 + 1x2 + 2x2/4) = 7: 1 - 4 x 2 / 7 = -1/7.
    Ordinal: none to full (1/2 + 2 + 1)^2 = 49/4, none to partial (1/2 + 1)^2 = 9/4, partial to full
    (1 + 1)^2 = 4. Observed 49/2; expected 2 (2 x 9/4 + 2 x 49/4 + 4 x 4) = 90: 1 - 98 / 90.
    """
    found = codes([2, 1, 0], [2, MISSING, CANNOT_TELL], [0, 1, MISSING])
    table = coincidence_table(found, once(3), LABEL_SCALE.size)
    assert table == ((0, 0, 1), (0, 2, 0), (1, 0, 1))
    assert alpha(table, "nominal", LABEL_SCALE.values) == Fraction(1, 2)
    assert alpha(table, "interval", LABEL_SCALE.values) == Fraction(-1, 7)
    assert alpha(table, "ordinal", LABEL_SCALE.values) == Fraction(-4, 45)


def test_weights_are_cells() -> None:
    """A cell that weighs 3 is the cell three times over."""
    thrice = codes([0, 1, 1, 1, 1], [0, 1, 2, 2, 2])
    short = codes([0, 1, 1], [0, 1, 2])
    assert coincidence_table(short, [Fraction(1), Fraction(1), Fraction(3)], LABEL_SCALE.size) == (
        coincidence_table(thrice, once(5), LABEL_SCALE.size)
    )


def test_alpha_undefined() -> None:
    for found in (codes([1, 1], [1, 1]), codes([0, MISSING], [MISSING, 1])):
        table = coincidence_table(found, once(2), LABEL_SCALE.size)
        assert [alpha(table, level, LABEL_SCALE.values) for level in DISTANCES] == [None] * 3


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Codes, Scale]:
    scale = draw(st.sampled_from(list(SCALES.values())))
    width = draw(st.integers(1, 8))
    label = st.sampled_from([*range(scale.size), MISSING, CANNOT_TELL])
    row = st.lists(label, min_size=width, max_size=width)
    return codes(*draw(st.lists(row, min_size=2, max_size=4))), scale


@given(labelled())
def test_against_krippendorff(drawn: tuple[Codes, Scale]) -> None:
    found, scale = drawn
    table = coincidence_table(found, once(found.shape[1]), scale.size)
    rows = coincidence_rows(found, scale.size).sum(axis=0)
    assert rows == pytest.approx([float(entry) for row in table for entry in row])
    fast = vectorised_alpha(scale.values, tuple(DISTANCES))(rows[None])[0]
    values = np.array([float(value) for value in scale.values])
    data = np.where(found >= 0, values[np.maximum(found, 0)], np.nan)
    used = {place for place, row in enumerate(table) if any(row)}
    for level, vector in zip(DISTANCES, fast, strict=True):
        exact = alpha(table, level, scale.values)
        if len(used) < 2:
            assert exact is None
            assert np.isnan(vector)
            continue
        theirs = krippendorff.alpha(
            reliability_data=data,
            level_of_measurement=cast("Level", level),
            value_domain=list(values),
        )
        assert exact is not None
        assert float(exact) == pytest.approx(theirs, abs=1e-9)
        assert vector == pytest.approx(theirs, abs=1e-9)


@given(labelled(), st.randoms(use_true_random=False))
def test_alpha_ignores_the_order(drawn: tuple[Codes, Scale], random: object) -> None:
    found, scale = drawn
    people, cells = list(range(found.shape[0])), list(range(found.shape[1]))
    random.shuffle(people)  # type: ignore[attr-defined]
    random.shuffle(cells)  # type: ignore[attr-defined]
    moved = found[people][:, cells]
    assert coincidence_table(moved, once(len(cells)), scale.size) == coincidence_table(
        found, once(len(cells)), scale.size
    )

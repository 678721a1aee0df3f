"""Krippendorff's alpha: by hand, and against the `krippendorff` package."""

from fractions import Fraction

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.label_audit.alpha import DISTANCES, alpha, coincidence_rows, coincidences
from memaudit.label_audit.coding import (
    CANNOT_TELL,
    COVERED_SCALE,
    LABEL_SCALE,
    MISSING,
    SCALES,
    Codes,
    Scale,
)
from memaudit.label_audit.resampling import alpha_measure


def codes(*rows: list[int]) -> Codes:
    """One row an annotator."""
    return np.array(rows, np.int8)


def once(cells: int) -> list[Fraction]:
    """Every cell weighs 1."""
    return [Fraction(1)] * cells


def test_two_annotators_by_hand() -> None:
    """Ten cells, four of them disputed: o_01 = 4, n_0 = 14, n_1 = 6, so 1 - 19 x 4 / (14 x 6)."""
    found = codes([0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0])
    table = coincidences(found, once(10), COVERED_SCALE)
    assert table == ((10, 4), (4, 2))
    assert alpha(table, "nominal", COVERED_SCALE) == Fraction(2, 21)


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
    table = coincidences(found, once(3), LABEL_SCALE)
    assert table == ((0, 0, 1), (0, 2, 0), (1, 0, 1))
    assert alpha(table, "nominal", LABEL_SCALE) == Fraction(1, 2)
    assert alpha(table, "interval", LABEL_SCALE) == Fraction(-1, 7)
    assert alpha(table, "ordinal", LABEL_SCALE) == Fraction(-4, 45)


def test_weights_are_cells() -> None:
    """A cell that weighs 3 is the cell three times over."""
    thrice = codes([0, 1, 1, 1, 1], [0, 1, 2, 2, 2])
    short = codes([0, 1, 1], [0, 1, 2])
    assert coincidences(short, [Fraction(1), Fraction(1), Fraction(3)], LABEL_SCALE) == (
        coincidences(thrice, once(5), LABEL_SCALE)
    )


def test_undefined() -> None:
    """One category only, or no cell with two labels."""
    for found in (codes([1, 1], [1, 1]), codes([0, MISSING], [MISSING, 1])):
        table = coincidences(found, once(2), LABEL_SCALE)
        assert [alpha(table, level, LABEL_SCALE) for level in DISTANCES] == [None] * 3


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Codes, Scale]:
    """Two to four annotators of one to eight cells, some labels missing."""
    scale = draw(st.sampled_from(list(SCALES.values())))
    width = draw(st.integers(1, 8))
    label = st.sampled_from([*range(scale.size), MISSING, CANNOT_TELL])
    row = st.lists(label, min_size=width, max_size=width)
    return codes(*draw(st.lists(row, min_size=2, max_size=4))), scale


@given(labelled())
def test_against_krippendorff(drawn: tuple[Codes, Scale]) -> None:
    """The same values; what it refuses is undefined here."""
    found, scale = drawn
    table = coincidences(found, once(found.shape[1]), scale)
    rows = coincidence_rows(found, scale).sum(axis=0)
    assert rows == pytest.approx([float(entry) for row in table for entry in row])
    fast = alpha_measure(scale, tuple(DISTANCES))(rows[None])[0]
    values = np.array([float(value) for value in scale.values])
    data = np.where(found >= 0, values[np.maximum(found, 0)], np.nan)
    used = {place for place, row in enumerate(table) if any(row)}
    for level, vector in zip(DISTANCES, fast, strict=True):
        exact = alpha(table, level, scale)
        if len(used) < 2:
            assert exact is None
            assert np.isnan(vector)
            continue
        theirs = krippendorff.alpha(
            reliability_data=data, level_of_measurement=level, value_domain=list(values)
        )
        assert exact is not None
        assert float(exact) == pytest.approx(theirs, abs=1e-9)
        assert vector == pytest.approx(theirs, abs=1e-9)


@given(labelled(), st.randoms(use_true_random=False))
def test_order_does_not_matter(drawn: tuple[Codes, Scale], random: object) -> None:
    """Neither the order of annotators nor that of cells."""
    found, scale = drawn
    people, cells = list(range(found.shape[0])), list(range(found.shape[1]))
    random.shuffle(people)  # type: ignore[attr-defined]
    random.shuffle(cells)  # type: ignore[attr-defined]
    moved = found[people][:, cells]
    assert coincidences(moved, once(len(cells)), scale) == coincidences(
        found, once(len(cells)), scale
    )

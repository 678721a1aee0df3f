"""Numbers as text, by hand."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from memaudit.core import number_text
from memaudit.core.number_text import (
    byte_size,
    fixed,
    p_value,
    percent,
    ratio,
    rounded,
    short_exact,
    short_number,
    signed,
    significant,
    span,
    with_interval,
)


def test_fixed_places() -> None:
    assert (ratio(0.57861), fixed(Fraction(1, 3), 2), signed(-0.0142)) == (
        "0.579",
        "0.33",
        "-0.014",
    )
    assert (percent(0.666), percent(Fraction(1, 8), 1)) == ("67%", "12.5%")
    assert span(0.1, 0.25) == "0.100 to 0.250"
    assert with_interval(0.2, 0.1, 0.25) == "0.200 [0.100, 0.250]"
    assert with_interval(0.2, None, None) == "0.200"


def test_p_values_are_never_zero() -> None:
    assert [p_value(p) for p in (0.0, 0.0004998, 0.0331)] == ["<0.0001", "0.0005", "0.033"]


@pytest.mark.parametrize("show", [ratio, fixed, signed, percent, p_value])
def test_undefined(show: Callable[..., str]) -> None:
    assert show(None) == show(float("nan")) == "-"
    assert show(None, missing="n/a") == "n/a"
    assert span(None, 1) == with_interval(None, 1, 2) == "-"


def test_exact_numbers_stay_exact_while_they_are_short() -> None:
    assert [short_exact(Fraction(text)) for text in ("5", "9/4", "1/3")] == [
        "5", "2.25", "1/3 ~0.3333333",
    ]  # fmt: skip
    assert short_exact(Fraction(10**13 + 1, 3)) == "~3.333333e+12"


def test_short_numbers() -> None:
    assert [short_number(Fraction(text)) for text in ("12345", "1/3")] == ["12,345", "0.3333"]
    assert significant(Fraction(200, 3), 6) == "66.6667"
    assert [byte_size(n) for n in (999, 1500, 25_000_000, 3 * 10**9)] == [
        "999 B", "1.5 kB", "25 MB", "3.0 GB",
    ]  # fmt: skip


def test_numbers_in_json_are_rounded_or_null() -> None:
    assert rounded(Fraction(1, 3)) == round(1 / 3, number_text.DIGITS)
    assert rounded(float("nan")) is rounded(None) is None

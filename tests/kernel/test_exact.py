"""Numbers mean their decimal text, and are shown as text."""

import signal
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticSerializationError

from memaudit.kernel import number_text
from memaudit.kernel.exact import Enclosure, exact, plain
from memaudit.kernel.number_text import (
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
from memaudit.kernel.package.package import Candidate


def test_decimals_add_up() -> None:
    """0.1 + 0.2 + 0.3 <= 0.6, which floats deny."""
    assert exact(0.1) + exact(0.2) + exact(0.3) <= exact(0.6)
    assert not 0.1 + 0.2 + 0.3 <= 0.6


@pytest.mark.parametrize(
    ("given_number", "expected"),
    [
        (1, Fraction(1)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.10"), Fraction(1, 10)),
        (" 2.5 ", Fraction(5, 2)),
        ("0.5/0.25", Fraction(2)),
        ("-1e-3", Fraction(-1, 1000)),
    ],
)
def test_texts_and_numbers(given_number: object, expected: Fraction) -> None:
    assert exact(given_number) == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("x", "not a number"),
        ("nan", "not a finite"),
        (float("inf"), "not a finite"),
        ("1/0", "divides by zero"),
        (True, "true or false"),
        (None, "found nothing"),
        ("1e99", "range"),
        (10**60, "more than 60 digits"),
        ("1" * 61, "more than 60 digits"),
        ("1/2/3", "not a number"),
    ],
)
def test_refused(wrong: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exact(wrong)


@given(
    st.fractions(max_denominator=10**12)
    | st.decimals(
        allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=18
    ).map(Fraction)
)
def test_plain_reads_back(number: Fraction) -> None:
    """The JSON form of a number is that number."""
    assert exact(plain(number)) == number


def test_plain_prefers_numbers() -> None:
    """Numbers where JSON can hold them, text otherwise."""
    third, long = Fraction(1, 3), exact("0.12345678901234567890123")
    assert [plain(n) for n in (Fraction(2), Fraction(1, 10), third, long)] == [
        2,
        0.1,
        "1/3",
        "0.12345678901234567890123",
    ]


def test_enclosures_add_and_scale() -> None:
    one = Enclosure(Fraction(1), Fraction(2))
    assert (one + one).times(Fraction(1, 2)) == one
    assert not one.is_point


def test_fixed_places() -> None:
    assert (ratio(0.57861), signed(-0.0142)) == ("0.579", "-0.014")
    assert fixed(Fraction(1, 3), 2) == "0.33"
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
        "5",
        "2.25",
        "1/3 ~0.3333333",
    ]
    assert short_exact(Fraction(10**13 + 1, 3)) == "~3.333333e+12"


def test_short_numbers() -> None:
    assert [short_number(Fraction(text)) for text in ("12345", "1/3")] == ["12,345", "0.3333"]
    assert significant(Fraction(200, 3), 6) == "66.6667"
    assert [byte_size(n) for n in (999, 1500, 25_000_000, 3 * 10**9)] == [
        "999 B",
        "1.5 kB",
        "25 MB",
        "3.0 GB",
    ]


def test_numbers_in_json_are_rounded_or_null() -> None:
    assert rounded(Fraction(1, 3)) == round(1 / 3, number_text.DIGITS)
    assert rounded(float("nan")) is rounded(None) is None


class Interrupted(Fraction):
    """A number during which somebody presses Ctrl-C."""

    @property
    def denominator(self) -> int:
        signal.raise_signal(signal.SIGINT)
        return 1


def test_ctrl_c_while_a_model_is_written() -> None:
    """It is no error of the model: what is kept so far is kept, and the command ends with 130."""
    row = Candidate.model_construct(id="c", experience="e", kind="raw", cost=Interrupted(1))
    with pytest.raises(KeyboardInterrupt):
        row.model_dump()
    wrong: dict[str, Any] = {"id": "c", "experience": "e", "kind": "raw", "cost": "1"}
    unknown = Candidate.model_construct(**wrong)
    with pytest.raises(PydanticSerializationError):
        unknown.model_dump()

"""Numbers mean their decimal text."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.exact import Enclosure, exact, plain


def test_decimals_add_up() -> None:
    """0.1 + 0.2 + 0.3 <= 0.6, which floats deny."""
    assert exact(0.1) + exact(0.2) + exact(0.3) <= exact(0.6)
    assert not 0.1 + 0.2 + 0.3 <= 0.6


@pytest.mark.parametrize(
    ("given_number", "expected"),
    [(1, Fraction(1)), ("1/3", Fraction(1, 3)), (Decimal("0.10"), Fraction(1, 10)),
     (" 2.5 ", Fraction(5, 2)), ("0.5/0.25", Fraction(2)), ("-1e-3", Fraction(-1, 1000))],
)  # fmt: skip
def test_texts_and_numbers(given_number: object, expected: Fraction) -> None:
    """Every accepted spelling."""
    assert exact(given_number) == expected


@pytest.mark.parametrize(
    ("wrong", "message"),
    [("x", "not a number"), ("nan", "not a finite"), (float("inf"), "not a finite"),
     ("1/0", "divides by zero"), (True, "true or false"), (None, "found nothing"),
     ("1e99", "range"), (10**60, "more than 60 digits"), ("1" * 61, "more than 60 digits"),
     ("1/2/3", "not a number")],
)  # fmt: skip
def test_refused(wrong: object, message: str) -> None:
    """What is no number says so."""
    with pytest.raises(ValueError, match=message):
        exact(wrong)


@given(st.fractions(max_denominator=10**12) | st.decimals(allow_nan=False, allow_infinity=False,
       min_value=-(10**9), max_value=10**9, places=18).map(Fraction))  # fmt: skip
def test_plain_reads_back(number: Fraction) -> None:
    """The JSON form of a number is that number."""
    assert exact(plain(number)) == number


def test_plain_prefers_numbers() -> None:
    """Numbers where JSON can hold them, text otherwise."""
    third, long = Fraction(1, 3), exact("0.12345678901234567890123")
    assert [plain(n) for n in (Fraction(2), Fraction(1, 10), third, long)] == [
        2, 0.1, "1/3", "0.12345678901234567890123",
    ]  # fmt: skip


def test_enclosures_add_and_scale() -> None:
    """Both ends move."""
    one = Enclosure(Fraction(1), Fraction(2))
    assert (one + one).times(Fraction(1, 2)) == one
    assert not one.is_point

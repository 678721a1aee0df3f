"""Numbers as JSON holds them."""

from fractions import Fraction

import pytest

from memaudit.kernel.number_text import fraction_text, rounded


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (Fraction(1, 3), 0.333333333),
        (Fraction(1, 10**12), 1e-12),
        (Fraction(-2, 3 * 10**20), -6.66666667e-21),
        (Fraction(0), 0.0),
        (None, None),
        (float("nan"), None),
        (5.6e-17, 0.0),
        (0.1 + 0.2, 0.3),
    ],
)
def test_rounded(number: Fraction | float | None, shown: float | None) -> None:
    """A small exact number keeps its digits; a small float is what a sum has left over."""
    assert rounded(number) == shown


def test_an_exact_number_that_nobody_could_read() -> None:
    assert fraction_text(Fraction(2, 3)) == "2/3"
    assert fraction_text(Fraction(1, 10**5000 + 1)) is None

"""Numbers as text: in the terminal, on pages, in figures and in Markdown.

`missing` is the text for a number that is undefined, which is None or NaN.
"""

import math
from fractions import Fraction
from typing import overload

from memaudit.kernel.exact import decimal_text

Number = float | Fraction

MISSING = "-"
"""An undefined number in a table."""

DIGITS, SMALL = 9, Fraction(1, 1000)
"""Decimal places of a rounded number in JSON; significant digits of an exact one below `SMALL`."""
LONGEST_FRACTION = 10**300
"""A longer fraction is not written out."""
LONGEST_EXACT = 12
"""Characters of an exact number in a table. A longer one is rounded and marked with ~."""


@overload
def rounded(number: Fraction) -> float: ...
@overload
def rounded(number: Number | None) -> float | None: ...
def rounded(number: Number | None) -> float | None:
    """A number as JSON holds it: rounded to `DIGITS` places, or None where it is undefined.

    A small exact number keeps so many significant digits; that of a small float is noise.
    """
    value = _defined(number)
    # Nine places leave little of 1/3000000. A float that small is what two rounded numbers differ
    # by.
    if isinstance(number, Fraction) and abs(number) < SMALL:
        return float(f"{float(number):.{DIGITS}g}")
    return None if value is None else round(value, DIGITS)


def fraction_text(number: Fraction) -> str | None:
    """The exact number beside a rounded one; None where it is too long for anybody to read."""
    long = max(abs(number.numerator), number.denominator) >= LONGEST_FRACTION
    return None if long else str(number)


def fixed(number: Number | None, places: int = 3, missing: str = "-") -> str:
    """So many decimal places."""
    value = _defined(number)
    return missing if value is None else f"{value:.{places}f}"


def ratio(number: Number | None, missing: str = "-") -> str:
    """A ratio or a coefficient: three decimal places."""
    return fixed(number, 3, missing)


def signed(number: Number | None, places: int = 3, missing: str = "-") -> str:
    """A difference, always with a sign."""
    value = _defined(number)
    return missing if value is None else f"{value:+.{places}f}"


def percent(share: Number | None, places: int = 0, missing: str = "-") -> str:
    """A share between 0 and 1 as a percentage."""
    value = _defined(share)
    return missing if value is None else f"{value:.{places}%}"


def p_value(number: Number | None, missing: str = "-") -> str:
    """About two significant digits, never 0."""
    value = _defined(number)
    if value is None:
        return missing
    # A test by resampling cannot show that a probability is 0.
    if 0 <= value < 0.0001:
        return "<0.0001"
    return fixed(value, 4 if value < 0.01 else 3)


def span(low: Number | None, high: Number | None, places: int = 3, missing: str = "-") -> str:
    """Both ends of an interval: `0.120 to 0.340`."""
    if _defined(low) is None or _defined(high) is None:
        return missing
    return f"{fixed(low, places)} to {fixed(high, places)}"


def with_interval(
    number: Number | None, low: Number | None, high: Number | None, missing: str = "-"
) -> str:
    """An estimate and its interval, `0.230 [0.120, 0.340]`, or alone where it has no interval."""
    text = ratio(number, missing)
    if any(_defined(part) is None for part in (number, low, high)):
        return text
    return f"{text} [{ratio(low)}, {ratio(high)}]"


def short_exact(number: Fraction) -> str:
    """Exact where that is short, as a decimal or a fraction. Otherwise rounded, marked with ~."""
    near = f"~{significant(number, 7)}"
    if max(abs(number.numerator), number.denominator) > 10**LONGEST_EXACT:
        return near
    text = decimal_text(number)
    if text is not None and len(text) <= LONGEST_EXACT:
        return text
    fraction = f"{number.numerator}/{number.denominator}"
    return f"{fraction} {near}" if len(fraction) <= LONGEST_EXACT else near


def short_number(number: Fraction) -> str:
    """A whole number in full, in groups of three digits. Any other with four digits."""
    return f"{number.numerator:,}" if number.denominator == 1 else significant(number)


def significant(number: Number, digits: int = 4) -> str:
    """So many significant digits."""
    return f"{float(number):.{digits}g}"


def byte_size(count: int) -> str:
    """Bytes as B, kB, MB or GB."""
    number = float(count)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def _defined(number: Number | None) -> float | None:
    if number is None:
        return None
    value = float(number)
    return None if math.isnan(value) else value

"""Numbers and untrusted texts as pages show them."""

import math
from fractions import Fraction

from memaudit.core.exact import plain

NONE = "–"  # noqa: RUF001 - a dash, not a minus


def _usable(number: float | Fraction | None) -> bool:
    return number is not None and not math.isnan(number)


def _signed(text: str) -> str:
    return text.replace("-", "−")  # noqa: RUF001 - a minus sign


def ratio(number: float | None) -> str:
    """Three places: ratios, their intervals and differences."""
    return _signed(f"{number:.3f}") if number is not None and _usable(number) else NONE


def difference(number: float | None) -> str:
    """Three places and always a sign; what rounds to 0 has none."""
    if number is None or not _usable(number):
        return NONE
    text = f"{number:+.3f}"
    return _signed(text) if float(text) else "0.000"


def amount(number: float | None) -> str:
    """Two places: mean values, costs and counts."""
    return _signed(f"{number:.2f}") if number is not None and _usable(number) else NONE


def change(number: float | None) -> str:
    """Two places and always a sign; what rounds to 0 has none."""
    if number is None or not _usable(number):
        return NONE
    text = f"{number:+.2f}"
    return _signed(text) if float(text) else "0.00"


def p_value(number: float | None) -> str:
    """Two significant digits or so; never 0."""
    if number is None or not _usable(number):
        return NONE
    if 0 <= number < 0.0001:
        return "<0.0001"
    return f"{number:.4f}" if number < 0.01 else f"{number:.3f}"


def precise(number: Fraction) -> str:
    """An exact number of a package, as its files write it."""
    return _signed(str(plain(number)))


def share(number: float | None) -> str:
    """A percentage without places."""
    return f"{100 * number:.0f}%" if number is not None and _usable(number) else NONE


def percent(part: float, whole: float) -> float:
    """A position along an axis, in percent with two places: what SVG attributes take."""
    return round(100 * part / whole, 2) if whole else 0.0


def visible_text(text: str) -> str:
    """The text with control, format and bidirectional characters as escapes; lines stay lines."""
    return "".join(
        letter
        if letter.isprintable() or letter == "\n"
        else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def shortened(text: str, most: int) -> str:
    """The beginning of a long text, saying how much was left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … ({len(text) - most:,} more characters)"

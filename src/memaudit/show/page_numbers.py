"""Numbers and untrusted texts as pages show them. Undefined numbers are a dash."""

from fractions import Fraction

from memaudit.kernel import number_text
from memaudit.kernel.exact import plain
from memaudit.kernel.words import text as text_

NONE = "–"  # noqa: RUF001 - a dash, not a minus


def typeset(text: str) -> str:
    """Text of numbers with minus signs, and a dash where there is none."""
    if text == number_text.MISSING:
        return NONE
    return text.replace("-", "−")  # noqa: RUF001 - a minus sign


def ratio(number: float | None) -> str:
    """Ratios, their intervals and differences: three decimal places."""
    return typeset(number_text.ratio(number, NONE))


def amount(number: float | None) -> str:
    """Mean values, costs and counts: two decimal places."""
    return typeset(number_text.fixed(number, 2, NONE))


def difference(number: float | None) -> str:
    """Three decimal places, always with a sign. What rounds to 0 has none."""
    return _difference(number, 3)


def change(number: float | None) -> str:
    """Two decimal places, always with a sign. What rounds to 0 has none."""
    return _difference(number, 2)


def _difference(number: float | None, places: int) -> str:
    text = number_text.signed(number, places, NONE)
    zero = number_text.fixed(0, places)
    return zero if text[1:] == zero else typeset(text)


def p_value(number: float | None) -> str:
    """About two significant digits, never 0."""
    return number_text.p_value(number, NONE)


def precise(number: Fraction) -> str:
    """An exact number of a package, as its files write it."""
    return typeset(str(plain(number)))


def share(number: float | None) -> str:
    """A percentage without decimal places."""
    return number_text.percent(number, missing=NONE)


def thousands(count: int | None) -> str:
    """A count with thousands separators."""
    return NONE if count is None else f"{count:,}"


def percent(part: float, total: float) -> float:
    """A position along an axis, in percent with two decimal places, for SVG attributes."""
    return round(100 * part / total, 2) if total else 0.0


def visible_text(text: str) -> str:
    """The text with control, format and bidirectional characters as escapes, except line breaks."""
    return text_.visible_text(text, keep="\n")


def shortened(text: str, most: int) -> str:
    """The beginning of a long text, with the number of characters left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … ({len(text) - most:,} more characters)"

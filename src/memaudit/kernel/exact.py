"""Exact numbers: a JSON number means its decimal value, a Python float its shortest decimal.

So 0.1 + 0.2 + 0.3 <= 0.6 holds, as a person reading the file expects. Rationals that have no
finite decimal form are written as strings, "1/3".
"""

import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import lcm
from threading import current_thread, main_thread
from types import FrameType
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, PlainSerializer, WithJsonSchema

MAX_DIGITS = 60
"""Numbers with more digits are refused: only attacks have them."""


MAX_COMMON_DIGITS = 10_000
"""Digits of a common denominator: above that, sums take too long."""

_MAX_COMMON = 10**MAX_COMMON_DIGITS


@lru_cache(maxsize=1 << 16)
def _from_text(text: str) -> Fraction:
    head, slash, tail = text.partition("/")
    parts = (head, tail) if slash else (head,)
    if any(len(part.removeprefix("-")) > MAX_DIGITS for part in parts):
        raise ValueError(f"number has more than {MAX_DIGITS} digits")
    numbers = []
    for part in parts:
        try:
            number = Decimal(part)
        except ArithmeticError:
            raise ValueError(f"{text[:40]!r} is not a number") from None
        if not number.is_finite():
            raise ValueError(f"{text[:40]} is not a finite number")
        # Before it becomes a fraction: 1e999999999 is a short text and an enormous number.
        if number and abs(number.adjusted()) > MAX_DIGITS:
            raise ValueError(f"{text[:40]} is out of range")
        numbers.append(Fraction(number))
    if slash and numbers[1] == 0:
        raise ValueError(f"{text[:40]!r} divides by zero")
    return numbers[0] / numbers[1] if slash else numbers[0]


@lru_cache(maxsize=1 << 16)
def _from_float(number: float) -> Fraction:
    # The shortest decimal that reads back as this float: what a person wrote, not the binary
    # fraction beside it.
    return _from_text(repr(number))


def exact(number: Any) -> Fraction:
    """The exact value of a number or its text."""
    if isinstance(number, Fraction):
        return number
    if isinstance(number, bool):
        raise ValueError("expected a number, not true or false")
    if isinstance(number, int):
        if abs(number) >= 10**MAX_DIGITS:
            raise ValueError(f"number has more than {MAX_DIGITS} digits")
        return Fraction(number)
    if isinstance(number, float):
        return _from_float(number)
    if isinstance(number, Decimal):
        return _from_text(str(number))
    if isinstance(number, str):
        return _from_text(number.strip())
    words = {dict: "an object", list: "a list", type(None): "nothing"}
    raise ValueError(f"expected a number, found {words.get(type(number), type(number).__name__)}")


def total(numbers: Iterable[Fraction]) -> Fraction:
    """The sum. Most costs are whole, which is faster to add up."""
    whole, rest = 0, Fraction(0)
    for number in numbers:
        if number.denominator == 1:
            whole += number.numerator
        else:
            rest += number
    return rest + whole


def common_denominator(numbers: Iterable[Fraction]) -> int | None:
    """The least number that makes them all whole; None if it exceeds MAX_COMMON_DIGITS digits."""
    common = 1
    # Stops at the first multiple that is too large: a million rows with prime denominators would
    # otherwise grow it to millions of digits first.
    for denominator in {number.denominator for number in numbers}:
        common = lcm(common, denominator)
        if common >= _MAX_COMMON:
            return None
    return common


def decimal_text(number: Fraction) -> str | None:
    """The finite decimal text of a rational, or None if it takes more than 1,000 places."""
    rest, twos, fives = number.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    # A decimal is finite exactly where the denominator has no prime factor but 2 and 5.
    places = max(twos, fives)
    if rest != 1 or places > 1000:
        return None
    if places == 0:
        return str(number.numerator)
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def plain(number: Fraction) -> int | float | str:
    """The JSON form of an exact number: a number where JSON can hold it, else text."""
    if number.denominator == 1:
        return number.numerator
    text = decimal_text(number)
    if text is None:
        return f"{number.numerator}/{number.denominator}"
    # A JSON number only where it reads back as the same value; text loses nothing.
    near = float(text)
    if _from_float(near) == number:
        return near
    return text if len(text) <= MAX_DIGITS else f"{number.numerator}/{number.denominator}"


def _writable(number: Any) -> Fraction:
    """The exact value, refused if its text would be too long to read back."""
    value = exact(number)
    if max(abs(value.numerator), value.denominator) >= 10**MAX_DIGITS:
        raise ValueError(f"number has more than {MAX_DIGITS} digits")
    return value


Exact = Annotated[
    Fraction,
    BeforeValidator(_writable),
    PlainSerializer(plain),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number"},
                {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?(/[0-9]+)?$"},
            ]
        }
    ),
]


class ExactModel(BaseModel):
    """A model of exact numbers. Ctrl-C waits until it is written: pydantic makes an ordinary error
    of what is raised meanwhile, or nothing."""

    def model_dump(self, *args: Any, **how: Any) -> dict[str, Any]:
        with _ctrl_c_waits():
            return super().model_dump(*args, **how)


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    # Signals can be caught in the main thread only, and a handler of None or SIG_IGN is no
    # function: then nothing here would be interrupted either.
    handler, pressed = signal.getsignal(signal.SIGINT), list[tuple[int, FrameType | None]]()
    if not callable(handler) or current_thread() is not main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda *press: pressed.append(press))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            handler(*pressed[0])


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A value known to lie between two rationals; a point wherever h is rational."""

    low: Fraction
    high: Fraction

    @property
    def is_point(self) -> bool:
        return self.low == self.high

    def __add__(self, other: "Enclosure") -> "Enclosure":
        return Enclosure(self.low + other.low, self.high + other.high)

    def times(self, factor: Fraction) -> "Enclosure":
        """The enclosure scaled by a nonnegative factor."""
        return Enclosure(self.low * factor, self.high * factor)

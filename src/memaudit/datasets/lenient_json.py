"""JSON as dataset authors write it: numbers as written, NaN as nothing, no key twice."""

import json
from collections import Counter
from decimal import Decimal
from typing import Any

MAX_DIGITS = 60


class Refused(ValueError):
    """Something the JSON grammar allows and no dataset should hold."""


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise Refused(f"a number has more than {MAX_DIGITS} digits")
    return int(text)


def _decimal(text: str) -> Decimal:
    if len(text) > MAX_DIGITS:
        raise Refused(f"a number has more than {MAX_DIGITS} digits")
    try:
        return Decimal(text)
    except ArithmeticError:
        raise Refused(f"the number {text} is out of range") from None


def _nothing(name: str) -> None:
    """NaN and infinities: what table libraries write for a missing value."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise Refused(f"the key {twice!r} appears twice in one object")
    return found


DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_float=_decimal, parse_int=_integer, parse_constant=_nothing
)


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    return "nothing" if value is None else names.get(type(value), "a number")

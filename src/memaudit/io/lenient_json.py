"""JSON as other people's tools write it: numbers as written, NaN as nothing, no key twice."""

import json
from collections import Counter
from decimal import Decimal
from typing import Any

MAX_DIGITS = 60


class RefusedJson(ValueError):
    """Something the JSON grammar allows and no dataset or export should hold."""


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise RefusedJson(f"a number has more than {MAX_DIGITS} digits")
    return int(text)


def _decimal(text: str) -> Decimal:
    if len(text) > MAX_DIGITS:
        raise RefusedJson(f"a number has more than {MAX_DIGITS} digits")
    try:
        return Decimal(text)
    except ArithmeticError:
        raise RefusedJson(f"the number {text} is out of range") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise RefusedJson(f"the key {twice!r} appears twice in one object")
    return members


LENIENT = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_float=_decimal,
    parse_int=_integer,
    parse_constant=lambda _: None,  # NaN and infinities: how table libraries write a missing value
)


def loads(text: str) -> object:
    """One JSON value; a ValueError in one line where the text is not one."""
    try:
        return LENIENT.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not valid JSON: {fault(error)} at character {error.pos}") from None
    except RecursionError:
        raise ValueError("nests too deeply") from None


def fault(error: json.JSONDecodeError) -> str:
    """What is wrong with a JSON text, without the place."""
    return error.msg.removesuffix(" at").lower()


def encodable(text: str) -> str:
    """The text with unpaired surrogates, which no file can hold, replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

"""JSON that means one thing: exact decimals, no NaN, no duplicate keys, bounded nesting."""

import json
import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memaudit.kernel.errors import InvalidPackage, MemAuditError, Problem
from memaudit.kernel.exact import MAX_DIGITS
from memaudit.kernel.io.files import read_text, refusal

MAX_DEPTH = 64


class RefusedJson(ValueError):
    """Something that the grammar of JSON allows, and no file of ours and no dataset should hold."""


@dataclass(frozen=True, slots=True)
class JsonRow:
    """One parsed object and the place it was read from."""

    data: dict[str, Any]
    file: str
    line: int


def _integer(text: str) -> int:
    if len(text.removeprefix("-")) > MAX_DIGITS:
        raise RefusedJson(f"a number has more than {MAX_DIGITS} digits")
    return int(text)


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except ArithmeticError:
        raise RefusedJson(f"the number {text[:40]} is out of range") from None
    # Free-form attributes are kept as floats, and would be written as Infinity, which is not JSON.
    if math.isinf(float(text)):
        raise RefusedJson(f"the number {text[:40]} is out of range")
    return number


def _constant(name: str) -> Any:
    raise RefusedJson(f"{name} is not a number a package can hold")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these pairs, for `object_pairs_hook`; no key may appear twice."""
    data = dict(pairs)
    if len(data) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise RefusedJson(f"the key {twice!r} appears twice in one object")
    return data


def _walk(value: Any, depth: int = 0) -> None:
    """Refuse what cannot be written back: deep nesting and unpaired surrogates."""
    if depth > MAX_DEPTH:
        raise RefusedJson(f"nests deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise RefusedJson("holds half of a surrogate pair, which is not a character") from None
    elif isinstance(value, dict):
        for key, item in value.items():
            _walk(key, depth)
            _walk(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _walk(item, depth + 1)


_STRICT = json.JSONDecoder(
    object_pairs_hook=unique_keys,
    parse_float=_decimal,
    parse_int=_integer,
    parse_constant=_constant,
)


class NotJson(InvalidPackage):
    """A text that breaks the grammar of JSON, as one that was cut off does."""


def parse_json(text: str, file: str, line: int = 1) -> Any:
    """One JSON document; `line` is where it starts in the file."""
    try:
        value = _STRICT.decode(text)
        _walk(value)
    except json.JSONDecodeError as error:
        where = f"{error.msg.removesuffix(' at')} at column {error.colno}"
        place = line + error.lineno - 1
        problem = Problem(f"is not valid JSON: {where}", file=file, line=place)
        raise NotJson([problem], file) from None
    except RecursionError:
        raise refusal(f"nests deeper than {MAX_DEPTH} levels", "", file, line) from None
    except RefusedJson as error:
        raise refusal(str(error), "", file, line) from None
    return value


def parse_lines(text: str, file: str) -> tuple[list[JsonRow], list[Problem]]:
    """The objects of a JSONL file with their line numbers, and everything wrong with it."""
    rows: list[JsonRow] = []
    problems: list[Problem] = []
    # Not splitlines: U+2028 and others end a line there, and stand inside texts here.
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = parse_json(line, file, number)
        except InvalidPackage as error:
            cut = number == len(lines) and isinstance(error, NotJson)
            hint = "the file ends in the middle of a row: it was cut off"
            problems += [Problem(hint, "", file=file, line=number)] if cut else error.problems
            continue
        if isinstance(value, dict):
            rows.append(JsonRow(value, file, number))
        else:
            message = f"expected one JSON object per line, found {kind_of(value)}"
            problems.append(Problem(message, file=file, line=number))
    return rows, problems


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    return "nothing" if value is None else names.get(type(value), "a number")


def floats(value: Any) -> Any:
    """The value with plain floats for decimals, as free-form attributes hold them."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [floats(item) for item in value]
    return value


LONGEST_STEP, MOST_STEPS, LONGEST = 40, 6, 200
"""Limits of messages: names in a file can have any length."""


def first_fault(error: ValidationError) -> str:
    """Where the first fault is and what it is: `spec.writers: input should be a valid list`."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    # The name of a check, function-after[...], is not a place in a file.
    named = [str(step) for step in first["loc"] if not str(step).startswith("function-")]
    steps = [step[:LONGEST_STEP] for step in named]
    place = ".".join(steps if len(steps) <= MOST_STEPS else [*steps[:MOST_STEPS], "..."])
    message = "unknown field" if first["type"] == "extra_forbidden" else fault_message(first)
    return f"{place}: {message}" if place else message


def fault_message(detail: ErrorDetails) -> str:
    """What a validation finds wrong with a value."""
    message = detail["msg"].removeprefix("Value error, ")
    return f"{message[:1].lower()}{message[1:LONGEST]}"


def read_object(path: Path, remedy: str) -> dict[str, Any]:
    """The object in a file; else one line that says what is wrong and ends with the remedy."""
    try:
        data = json.loads(read_text(path), object_pairs_hook=unique_keys)
    except InvalidPackage as error:
        raise MemAuditError(f"cannot read {path}: it {error.problems[0].message}") from None
    except RecursionError:
        raise MemAuditError(f"{path} nests too deeply; {remedy}") from None
    except RefusedJson as error:
        raise MemAuditError(f"{path}: {error}; {remedy}") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise MemAuditError(f"{path} is not JSON ({error.msg}, {where}); {remedy}") from None
    except ValueError:
        raise MemAuditError(f"{path} is not JSON; {remedy}") from None
    if not isinstance(data, dict):
        raise MemAuditError(f"{path} holds no JSON object; {remedy}")
    return data


def json_text(data: Any, indent: int | None = None) -> str:
    """A value as JSON text; what JSON cannot hold is an error."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
        text.encode()
    except ValueError:  # only free-form attributes can hold such things
        raise MemAuditError(
            "an attribute holds NaN or broken text, which JSON cannot hold"
        ) from None
    return text


def json_lines(rows: list[dict[str, Any]]) -> str:
    """Rows as JSONL."""
    return "".join(f"{json_text(row)}\n" for row in rows)

"""Where the parts of a one-file package stand, for line numbers in messages."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

_LENIENT = json.JSONDecoder(parse_int=str, parse_float=str)
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Span:
    """One row of a table, or one other top-level value (row -1), in the text."""

    key: str
    row: int
    text: str
    line: int


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _values(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Key, row, start and end of every row; `text` is a valid JSON object."""
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] != "}":
        key, at = _LENIENT.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if text[at] == "[":
            at, row = _skip(text, at + 1), 0
            while text[at] != "]":
                _, end = _LENIENT.raw_decode(text, at)
                yield key, row, at, end
                at, row = _skip(text, end), row + 1
                if text[at] == ",":
                    at = _skip(text, at + 1)
            at += 1
        else:
            _, end = _LENIENT.raw_decode(text, at)
            yield key, -1, at, end
            at = end
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)


def spans(text: str) -> Iterator[Span]:
    """The parts of a JSON object in file order, each with its line."""
    line, before = 1, 0
    for key, row, start, end in _values(text):
        line += text.count("\n", before, start)
        before = start
        yield Span(key, row, text[start:end], line)

"""Bytes to JSON, JSONL or text: broken pieces are named, never guessed at."""

import json
from dataclasses import dataclass
from typing import Literal

from memaudit.core.errors import MemAuditError
from memaudit.datasets.json_source import DECODER, Refused

_MARKS = {
    b"\xef\xbb\xbf": "starts with a byte order mark (save it as UTF-8 without one)",
    b"\xff\xfe": "is UTF-16 (save it as UTF-8)",
    b"\xfe\xff": "is UTF-16 (save it as UTF-8)",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a JSONL file: its value, or what is wrong with it."""

    number: int
    value: object = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a file holds."""

    kind: Literal["json", "lines", "text"] = "text"
    document: object = None
    lines: tuple[Line, ...] = ()
    text: str = ""
    wrapped: bool = False
    """The JSON stood inside a JSON string."""


def parse(data: bytes, name: str, as_text: bool = False) -> Parsed:
    """Tell JSON, JSONL and text apart by the first line; whole-file damage is an error."""
    for mark, message in _MARKS.items():
        if data.startswith(mark):
            raise MemAuditError(f"{name}: {message}")
    if as_text or not data.lstrip()[:1] or data.lstrip()[:1] not in b'{["':
        return Parsed("text", text=_decoded(data, name))
    if _is_jsonl(data):
        return Parsed("lines", lines=_lines(data))
    text = _decoded(data, name)
    value = _value(text, name)
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):  # seen in a published .af
        return Parsed(
            "json", document=_value(value, f"{name} (JSON inside a string)"), wrapped=True
        )
    return Parsed("json", document=value)


def loads(text: str) -> object:
    """One JSON value; ValueError in one line where it is none."""
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at").lower()
        raise ValueError(f"not valid JSON: {what} at character {error.pos}") from None
    except RecursionError:
        raise ValueError("nests too deep") from None
    except Refused as error:
        raise ValueError(str(error)) from None


def text_lines(text: str) -> list[str]:
    """The lines of a text as editors count them; str.splitlines also cuts at form feeds, U+2028 and
    the like, which stand inside a memory."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _is_jsonl(data: bytes) -> bool:
    """Whether the first line is an object of its own and something follows it."""
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest.strip() or not first.startswith(b"{"):
        return False
    try:
        return isinstance(loads(first.decode("utf-8", "replace")), dict)
    except ValueError:  # a broken first line: JSONL if the second is an object of its own
        second = rest.lstrip().partition(b"\n")[0]
        try:
            return second.startswith(b"{") and isinstance(loads(second.decode()), dict)
        except ValueError:
            return False


def _lines(data: bytes) -> tuple[Line, ...]:
    found = []
    at = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        start, at = at, at + len(line) + 1
        if not line.strip():
            continue
        try:
            found.append(Line(number, loads(line.decode("utf-8"))))
        except UnicodeDecodeError as error:
            found.append(Line(number, problem=f"not UTF-8: at byte {start + error.start}"))
        except ValueError as error:
            found.append(Line(number, problem=str(error)))
    return tuple(found)


def _decoded(data: bytes, name: str) -> str:
    if (nul := data.find(b"\0")) >= 0:
        raise MemAuditError(f"{name}: holds a NUL byte at byte {nul}: it is binary or damaged")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise MemAuditError(
            f"{name}:{line}: is not UTF-8 at byte {error.start} (save it as UTF-8)"
        ) from None


def _value(text: str, name: str) -> object:
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        at = len(text[: error.pos].encode("utf-8", "replace"))
        what = error.msg.removesuffix(" at").lower()
        cut = ", or the file was cut off" if error.pos >= len(text.rstrip()) else ""
        raise MemAuditError(
            f"{name}:{error.lineno}: is not valid JSON: {what} (at byte {at}{cut})"
        ) from None
    except RecursionError:
        line, byte = _deepest(text)
        raise MemAuditError(f"{name}:{line}: nests too deep (at byte {byte})") from None
    except Refused as error:
        raise MemAuditError(f"{name}: {error}") from None


def _deepest(text: str) -> tuple[int, int]:
    """Line and byte where the brackets are nested most."""
    depth, deepest, place, quoted, escaped = 0, 0, 0, False, False
    for at, letter in enumerate(text):
        if quoted:
            quoted = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            quoted = True
        elif letter in "[{":
            depth += 1
            if depth > deepest:
                deepest, place = depth, at
        elif letter in "]}":
            depth -= 1
    return text.count("\n", 0, place) + 1, len(text[:place].encode("utf-8", "replace"))

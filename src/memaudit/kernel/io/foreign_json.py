"""JSON as other people write it: lenient values, records read one by one, and the fields of a row.

Numbers stay as written, NaN is nothing, and no key stands twice in an object. Of a file, memory
holds one record.
"""

import codecs
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import MAX_DIGITS
from memaudit.kernel.io.files import open_regular
from memaudit.kernel.io.strict_json import RefusedJson, kind_of, unique_keys


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


LENIENT = json.JSONDecoder(
    object_pairs_hook=unique_keys,
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


CHUNK = 1 << 16
LONGEST_LINE = 1 << 24
"""Bytes; a longer line was not written by hand, and would have to fit in memory."""

SLACK = 16
"""A value cut inside an escape or a literal fails at most this far from the end of the buffer."""

_SPACE = re.compile(r"[ \t\r\n]*")
_PARTIAL = re.compile(r"[\s\w.+\-\\]*")
"""What is left of a number, literal or escape that was cut."""


def records(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Each object of a list or of JSON lines, with its place; lines may have any length.

    A file that is one object is one record.
    """
    with open_regular(path) as file:
        cursor = JsonCursor(file, path.name)
        if cursor.peek() == "[":
            for place in cursor.elements():
                yield place, record(cursor, path.name, place)
            cursor.done()
            return
        if not cursor.peek():
            raise MemAuditError(f"{path.name}: is empty")
        place = 0
        while cursor.peek():
            yield place, record(cursor, path.name, place)
            place += 1


def record(cursor: "JsonCursor", name: str, place: int) -> dict[str, object]:
    """The next value, which must be an object."""
    cursor.peek()
    byte = cursor.offset
    value = cursor.value()
    if not isinstance(value, dict):
        raise MemAuditError(
            f"{name}: record {place + 1} is {kind_of(value)}, an object was expected (byte {byte})"
        )
    return value


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Each object of a JSONL file with its line number; empty lines are skipped."""
    with open_regular(path) as file:
        byte, number = 0, 0
        while line := read_piece(file, LONGEST_LINE + 1, path.name, whole_line=True):
            number += 1
            where = f"{path.name}:{number}"
            # One byte more than allowed was asked for, so a line that is too long is seen without
            # being read to its end.
            if len(line) > LONGEST_LINE:
                raise MemAuditError(f"{where}: a line of more than {LONGEST_LINE} bytes")
            if byte == 0 and line.startswith(codecs.BOM_UTF8):  # editors write it
                line, byte = line.removeprefix(codecs.BOM_UTF8), len(codecs.BOM_UTF8)
            text = _decoded(line, where, byte)
            if text.strip():
                yield number, _parsed(text, where, byte, ended=line.endswith(b"\n"))
            byte += len(line)


def read_piece(file: BinaryIO, size: int, name: str, whole_line: bool = False) -> bytes:
    """The next bytes or the next line, at most `size` bytes; empty at the end."""
    try:
        return file.readline(size) if whole_line else file.read(size)
    except OSError as error:
        raise MemAuditError(f"{name}: cannot be read: {error.strerror or error}") from None


def _decoded(line: bytes, where: str, byte: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        at = byte + error.start
        raise MemAuditError(f"{where}: is not UTF-8; save it as UTF-8 (at byte {at})") from None


def _parsed(text: str, where: str, byte: int, ended: bool) -> dict[str, object]:
    try:
        value = LENIENT.decode(text)
    except json.JSONDecodeError as error:
        at = byte + len(text[: error.pos].encode())
        cut = "" if ended else ", or the file was cut off here"
        raise MemAuditError(
            f"{where}: is not valid JSON: {fault(error)} (at byte {at}{cut})"
        ) from None
    except RecursionError:
        raise MemAuditError(f"{where}: nests too deeply (at byte {byte})") from None
    except RefusedJson as error:
        raise MemAuditError(f"{where}: {error} (at byte {byte})") from None
    if not isinstance(value, dict):
        raise MemAuditError(f"{where}: is {kind_of(value)}, expected one object per line")
    return value


class JsonCursor:
    """A place in a JSON file, moved value by value; errors name the byte."""

    def __init__(self, file: BinaryIO, name: str, chunk: int = CHUNK) -> None:
        self._file, self._name, self._chunk = file, name, chunk
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._buffer, self._at = "", 0
        self._start = 0  # the byte where the buffer begins
        self._bytes = 0  # read so far
        self._ended = False
        if self.peek() == "\ufeff" and self.offset == 0:  # editors write it
            self._at += 1

    def peek(self) -> str:
        """The next character that is not space; empty at the end of the file."""
        while True:
            space = _SPACE.match(self._buffer, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return ""

    def value(self) -> object:
        self.peek()
        while True:
            try:
                value, end = LENIENT.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                if self._may_be_cut(error) and self._more():
                    continue
                raise self._malformed(error) from None
            except RecursionError:
                raise self._error("nests too deeply", self.offset) from None
            except RefusedJson as error:
                raise self._error(str(error), self.offset, "in the value at") from None
            # A number that ends with the buffer may continue in the file.
            if end == len(self._buffer) and self._buffer[-1] not in '}]"' and self._more():
                continue
            self._at = end
            return value

    def elements(self) -> Iterator[int]:
        """Step through a list: consume one value each time."""
        self._take("[")
        count = 0
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield count
            count += 1
            if self._take(",", "]") == "]":
                return

    def members(self) -> Iterator[str]:
        """Step through an object: the key, then consume its value."""
        self._take("{")
        seen: set[str] = set()
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                raise self._expected("a key in quotes")
            key = str(self.value())
            if key in seen:
                raise self._error(f"the key {key!r} appears twice in one object", self.offset)
            seen.add(key)
            self._take(":")
            yield key
            if self._take(",", "}") == "}":
                return

    def done(self) -> None:
        """Check that nothing follows."""
        if self.peek():
            raise self._error("more text after the end of the JSON document", self.offset)

    @property
    def offset(self) -> int:
        return self._byte(self._at)

    def _byte(self, at: int) -> int:
        return self._start + len(self._buffer[:at].encode())

    def _more(self) -> bool:
        """Read on, dropping what was consumed; ever larger pieces keep long values linear."""
        if self._ended:
            return False
        self._start = self.offset
        self._buffer, self._at = self._buffer[self._at :], 0
        # At least as much again as is waiting: a long value is parsed anew after each piece, and
        # pieces that double make that linear in all.
        data = read_piece(self._file, max(self._chunk, len(self._buffer)), self._name)
        pending = len(self._decoder.getstate()[0])
        try:
            self._buffer += self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            if not data:  # the file ends inside a character
                raise self._cut_off() from None
            at = self._bytes - pending + error.start
            raise self._error("is not UTF-8; save it as UTF-8", at) from None
        self._bytes += len(data)
        self._ended = not data
        return True

    def _take(self, *symbols: str) -> str:
        symbol = self.peek()
        if symbol not in symbols or not symbol:
            raise self._expected(" or ".join(symbols))
        self._at += 1
        return symbol

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether the error may go away with more text; if not, stop before reading it all."""
        # The parser reports such a string where it begins, however far the buffer goes on.
        unterminated = error.msg.startswith("Unterminated string")
        return unterminated or error.pos >= len(self._buffer) - SLACK

    def _malformed(self, error: json.JSONDecodeError) -> MemAuditError:
        ends = error.pos >= len(self._buffer) - SLACK
        if (ends and _PARTIAL.fullmatch(self._buffer, error.pos)) or error.msg.startswith(
            "Unterminated string"
        ):
            return self._cut_off()
        return self._error(f"is not valid JSON: {fault(error)}", self._byte(error.pos))

    def _expected(self, what: str) -> MemAuditError:
        symbol = self.peek()
        if not symbol:
            return self._cut_off() if self.offset else self._error("is empty", 0)
        return self._error(f"is not valid JSON: expected {what}, found {symbol!r}", self.offset)

    def _cut_off(self) -> MemAuditError:
        return self._error("the file ends in the middle of a value; it was cut off", self._bytes)

    def _error(self, message: str, byte: int, near: str = "at") -> MemAuditError:
        return MemAuditError(f"{self._name}: {message} ({near} byte {byte})")


class ForeignRow:
    """The fields of one object.

    What a missing or mistyped field costs is for the kind of file to say: a memory without text is
    skipped, a turn without text is kept.
    """

    def __init__(self, data: dict[str, object]) -> None:
        self.data = data

    def missing(self, name: str) -> None:
        """Told of a field that should be there."""

    def mistyped(self, name: str, what: str) -> None:
        """Told of a value that is left out, and what it is instead."""
        raise NotImplementedError

    def rows(self, name: str, required: bool = True) -> list[object]:
        """A list; empty where there is none."""
        value = self.data.get(name)
        if isinstance(value, list):
            return value
        if value is not None:
            self.mistyped(name, f"{kind_of(value)}, not a list")
        elif required:
            self.missing(name)
        return []

    def object(self, name: str) -> dict[str, object]:
        """An object; empty where there is none."""
        value = self.data.get(name)
        if isinstance(value, dict):
            return value
        if value is None:
            self.missing(name)
        else:
            self.mistyped(name, f"{kind_of(value)}, not an object")
        return {}

    def whole_number(self, name: str) -> str | None:
        """An id that is written as a whole number, as text."""
        value = self.data.get(name)
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else None

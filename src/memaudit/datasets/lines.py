"""The objects of a JSONL file, one line at a time."""

import json
from collections.abc import Iterator
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.datasets.lenient_json import DECODER, Refused, kind_of
from memaudit.datasets.source import opened, read_line

LONGEST_LINE = 1 << 24
"""Bytes; a longer line was not written by hand, and would have to fit in memory."""


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    """Each object with its line number; empty lines are skipped."""
    with opened(path) as file:
        byte, number = 0, 0
        while line := read_line(file, LONGEST_LINE + 1, path.name):
            number += 1
            where = f"{path.name}:{number}"
            if len(line) > LONGEST_LINE:
                raise MemAuditError(f"{where}: a line of more than {LONGEST_LINE} bytes")
            text = _decoded(line, where, byte)
            if text.strip():
                yield number, _parsed(text, where, byte, whole_line=line.endswith(b"\n"))
            byte += len(line)


def _decoded(line: bytes, where: str, byte: int) -> str:
    if byte == 0 and line.startswith(b"\xef\xbb\xbf"):
        raise MemAuditError(f"{where}: starts with a byte order mark; save it as UTF-8 without one")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        at = byte + error.start
        raise MemAuditError(f"{where}: is not UTF-8; save it as UTF-8 (at byte {at})") from None


def _parsed(text: str, where: str, byte: int, whole_line: bool) -> dict[str, object]:
    try:
        value = DECODER.decode(text)
    except json.JSONDecodeError as error:
        at = byte + len(text[: error.pos].encode())
        cut = "" if whole_line else ", or the file was cut off here"
        message = error.msg.removesuffix(" at").lower()
        raise MemAuditError(f"{where}: is not valid JSON: {message} (at byte {at}{cut})") from None
    except RecursionError:
        raise MemAuditError(f"{where}: nests too deep (at byte {byte})") from None
    except Refused as error:
        raise MemAuditError(f"{where}: {error} (at byte {byte})") from None
    if not isinstance(value, dict):
        raise MemAuditError(f"{where}: is {kind_of(value)}, one object a line was expected")
    return value

"""Dataset files: opened, read in pieces, hashed, and their JSON as authors write it."""

import hashlib
import json
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO

from memaudit.core.errors import MemAuditError

CHUNK = 1 << 16


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file's bytes."""
    name = path.name or str(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise MemAuditError(f"{name}: is a folder (give one dataset file)")
        if not stat.S_ISREG(mode):
            raise MemAuditError(f"{name}: is not a regular file (give a file on disk)")
        file = path.open("rb")
    except FileNotFoundError:
        raise MemAuditError(f"{name}: does not exist (check the path)") from None
    except (OSError, ValueError) as error:  # a NUL byte in a path is a ValueError
        raise MemAuditError(f"{name}: cannot be read: {error}") from None
    with file:
        yield file


def read(file: BinaryIO, size: int, name: str) -> bytes:
    """The next bytes, at most `size`; empty at the end."""
    try:
        return file.read(size)
    except OSError as error:
        raise MemAuditError(f"{name}: cannot be read: {error.strerror or error}") from None


def read_line(file: BinaryIO, size: int, name: str) -> bytes:
    """The next line, at most `size` bytes of it; empty at the end."""
    try:
        return file.readline(size)
    except OSError as error:
        raise MemAuditError(f"{name}: cannot be read: {error.strerror or error}") from None


def dataset_hash(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hex."""
    total = hashlib.sha256()
    with opened(path) as file:
        while piece := read(file, CHUNK, path.name):
            total.update(piece)
    return total.hexdigest()


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

"""An append-only file of JSON rows that survives a killed process: each line has a checksum.

A line is the row's JSON with a last key `crc`, the CRC-32 of everything before it. What a killed
process left half-written at the end is cut off when the file is opened again.
"""

import fcntl
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from memaudit.kernel.errors import MemAuditError, cannot_write
from memaudit.kernel.io.files import open_regular, open_to_append

_CRC = ',"crc":"'
LONGEST_LINE = 1 << 28
"""Bytes; longer lines are refused."""


def to_line(row: dict[str, Any]) -> str:
    """A row as a line with its checksum."""
    body = json.dumps(row, ensure_ascii=True, separators=(",", ":"))[:-1]
    return f'{body}{_CRC}{zlib.crc32(body.encode()):08x}"}}\n'


def is_intact(line: bytes) -> bool:
    """Whether a line is complete and holds what was written."""
    if not line.endswith(b'"}\n') or line[-19:-11] != _CRC.encode():
        return False
    return line[-11:-3] == b"%08x" % zlib.crc32(line[:-19])


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a journal; a damaged line is an error that names it."""
    try:
        with open_regular(path, f"cannot read {path}") as file:
            number = 0
            while line := file.readline(LONGEST_LINE):
                number += 1
                row = intact_row(line)
                if row is None:
                    raise MemAuditError(
                        f"{path}, line {number}: the row is damaged or cut off; "
                        "run the same command again to repair it"
                    )
                del row["crc"]
                yield row
    except OSError as error:
        raise MemAuditError(f"cannot read {path}: {error.strerror or error}") from None


def intact_row(line: bytes) -> dict[str, Any] | None:
    """The row of an intact line, checksum included; None for any other line."""
    if not is_intact(line):
        return None
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # something else with a right checksum
        return None
    return row if isinstance(row, dict) and "crc" in row else None


Fits = Callable[[int, dict[str, Any]], bool]
"""Whether a row belongs at this place."""

Key = tuple[object, ...]


def rows_in_order(fields: Sequence[str], count: int, key_at: Callable[[int], Key]) -> Fits:
    """Accepts `count` rows, of which the one at each place has this key in its `fields`."""

    def fits(place: int, row: dict[str, Any]) -> bool:
        return place < count and tuple(row.get(name) for name in fields) == key_at(place)

    return fits


def open_locked(path: Path, shown: Path | None = None) -> BinaryIO:
    """A file to append to that one process at a time has open; it is made if there is none.

    An error calls it `shown`. Whoever has it open may remove it.
    """
    while True:
        file = open_to_append(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise MemAuditError(
                f"{shown or path} is being written by another run; wait for it or choose another "
                "folder"
            ) from None
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.lstat()):
                return file
        file.close()  # it was removed between opening and locking


class Journal:
    """The file, open for appending by one process at a time.

    On opening, everything from the first row that is damaged, or does not fit its place, is cut
    off: `cut` bytes.
    """

    def __init__(self, path: Path, fits: Fits | None = None) -> None:
        self.path, self.fits = path, fits
        self.rows = self.cut = 0

    def __enter__(self) -> Self:
        self._file = open_locked(self.path)
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise
        return self

    def _read(self) -> None:
        good = 0
        with open(self._file.fileno(), "rb", closefd=False) as file:
            while line := file.readline(LONGEST_LINE):
                row = intact_row(line)
                if row is None or (self.fits and not self.fits(self.rows, row)):
                    break
                good += len(line)
                self.rows += 1
            end = file.seek(0, os.SEEK_END)
        if end > good:
            if not good and not self._begins_like_a_row():
                raise MemAuditError(f"{self.path}: already exists and is no journal of rows")
            self.cut = end - good
            self._file.truncate(good)

    def _begins_like_a_row(self) -> bool:
        """A killed process may leave a part of the first row, and nothing else."""
        return os.pread(self._file.fileno(), 1, 0) == b"{"

    def append(self, lines: Iterable[str]) -> None:
        """Append complete lines; the system has them when this returns."""
        given = list(lines)
        if any(len(line) >= LONGEST_LINE for line in given):
            raise MemAuditError(f"{self.path}: a row of more than {LONGEST_LINE} bytes is not kept")
        text = "".join(given).encode("ascii")
        left = memoryview(text)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            raise cannot_write(self.path, error) from None
        self.rows += text.count(b"\n")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # a full disk was reported when writing
            os.fsync(self._file.fileno())
        self._file.close()

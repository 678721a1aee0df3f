"""Dataset files: opened, read in pieces, hashed."""

import hashlib
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

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

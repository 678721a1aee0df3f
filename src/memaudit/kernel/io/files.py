"""Reading files strictly: regular, not too large, UTF-8 and nothing else."""

import codecs
import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO, cast

from memaudit.kernel.errors import InvalidPackage, MemAuditError, Problem, cannot_write

MAX_BYTES = 512 << 20
"""Larger inputs are refused: rows take about twenty times their text in memory."""

LONGEST_NAME = 255
"""Bytes of a file's name; usual file systems take no longer ones."""

_OTHER_ENCODINGS = {
    b"\xff\xfe": ("is UTF-16, not UTF-8", "save it as UTF-8"),
    b"\xfe\xff": ("is UTF-16, not UTF-8", "save it as UTF-8"),
}


def refusal(message: str, fix: str, file: str, line: int = 0) -> InvalidPackage:
    """The error for one thing wrong with a file."""
    return InvalidPackage([Problem(message, fix, file=file, line=line)], file)


def open_regular(path: Path, name: str = "") -> BinaryIO:
    """A regular file, opened for reading bytes; errors call it `name`."""
    name = name or path.name or str(path)
    try:
        _refuse_special(path.stat().st_mode, name)  # before opening: a pipe would wake its writer
        # O_NONBLOCK: if a pipe takes the file's place meanwhile, opening it does not wait for ever.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise refusal("does not exist", "check the path", name) from None
    except (OSError, ValueError) as error:  # a NUL byte in a path is a ValueError
        raise unreadable(path, error, name) from None
    try:
        _refuse_special(os.fstat(handle).st_mode, name)  # it may be another one by now
    except InvalidPackage:
        os.close(handle)
        raise
    return open(handle, "rb")


def _refuse_special(mode: int, name: str) -> None:
    if stat.S_ISDIR(mode):
        raise refusal("is a folder", "a file was expected", name)
    if not stat.S_ISREG(mode):
        raise refusal("is not a regular file", "give a file on disk", name)


def refuse_to_write(path: Path) -> None:
    """Refuse a path at which there is something else than a regular file, a link included.

    A link is neither followed nor replaced: what it leads to may belong to somebody else.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise _not_written(path, str(getattr(error, "strerror", None) or error)) from None
    if wrong := _not_ours(status):
        raise _not_written(path, wrong)


def open_to_append(path: Path) -> BinaryIO:
    """A regular file of ours, made if there is none, opened to be read and appended to.

    It has no buffer: what is written is with the system.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    refuse_to_write(path)  # with a better reason than the system gives
    try:
        handle = os.open(path, flags, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from None
    status = os.fstat(handle)
    other = "it is a hard link, and its other names would change too; replace it by a copy"
    if wrong := _not_ours(status) or (other if status.st_nlink > 1 else ""):
        os.close(handle)
        raise _not_written(path, wrong)
    return cast(BinaryIO, open(handle, "r+b", buffering=0))


def _not_ours(status: os.stat_result) -> str:
    """Why a file may not be written; empty if it may."""
    if stat.S_ISLNK(status.st_mode):
        return "it is a link; give the path that it leads to"
    if stat.S_ISDIR(status.st_mode):
        return "it is a folder, a file was expected"
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file; choose another path"
    return ""


def _not_written(path: Path, why: str) -> MemAuditError:
    return MemAuditError(f"cannot write {path}: {why}")


def read_bytes(path: Path, max_bytes: int = MAX_BYTES, name: str = "") -> bytes:
    """The content of a regular file that is not too large."""
    name = name or path.name
    with open_regular(path, name) as file:
        try:
            size = os.fstat(file.fileno()).st_size
            # One byte beyond the size tells whether the file grew since it was measured.
            data = b"" if size > max_bytes else file.read(size + 1)
            if len(data) > size:  # it grew while it was read
                data += file.read(max_bytes + 1 - len(data))
        except OSError as error:
            raise unreadable(path, error, name) from None
    if max(size, len(data)) > max_bytes:
        length = f"{size} bytes" if size > max_bytes else f"more than {max_bytes} bytes"
        raise refusal(f"is too large: {length}, at most {max_bytes} are read", "split it", name)
    return data


def beside(path: Path, ending: str, stem: bool = False) -> Path:
    """The path's name, or its stem, with an ending added; `.` counts under its folder's name."""
    named = path if path.name not in ("", "..") else path.resolve()
    return named.parent / f"{named.stem if stem else named.name}{ending}"


def unreadable(path: Path, error: OSError | ValueError, name: str = "") -> InvalidPackage:
    """The error for a path the system does not let us read."""
    why = getattr(error, "strerror", None) or error
    return refusal(f"cannot be read: {why}", "", name or path.name or str(path))


def is_file_name(text: object) -> bool:
    """Whether a name taken from an input is an entry of its own folder, and nothing else."""
    return (
        isinstance(text, str)
        and text not in ("", ".", "..")
        and not any(mark in text for mark in ("/", "\\", "\0"))
        and len(text.encode("utf-8", "replace")) <= LONGEST_NAME
    )


def decode(data: bytes, file: str) -> str:
    """Strict UTF-8 without NUL bytes; a byte order mark, which editors write, is dropped."""
    data = data.removeprefix(codecs.BOM_UTF8)
    for mark, (message, fix) in _OTHER_ENCODINGS.items():
        if data.startswith(mark):
            raise refusal(message, fix, file, 1)
    if (nul := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise refusal("holds a NUL byte", "the file is binary or damaged", file, line)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"0x{data[error.start]:02x}"
        raise refusal(f"is not UTF-8: bad byte {byte}", "save it as UTF-8", file, line) from None


def read_text(path: Path) -> str:
    """The text of a UTF-8 file."""
    return decode(read_bytes(path), path.name)


def sha256(data: bytes) -> str:
    """The SHA-256 of some bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def content_digest(path: Path) -> str:
    """The SHA-256 of a file; of a folder, of the names and contents of all its files."""
    if not os.path.isdir(path):
        digest = hashlib.sha256()
        with open_regular(path) as file:
            while block := file.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()
    # Hidden files are a system's own, such as .DS_Store: looking into a folder may make them.
    names = [name for name in names_in(path) if not name.startswith(".")]
    return sha256("".join(f"{name}\0{content_digest(path / name)}\n" for name in names).encode())


def names_in(folder: Path) -> list[str]:
    """The entries of a folder, sorted."""
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        raise unreadable(folder, error) from None

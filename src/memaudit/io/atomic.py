"""Writing all or nothing: into a temporary neighbour, then renamed into place."""

import os
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from memaudit.core.errors import MemAuditError


def _neighbour(path: Path, role: str) -> Path:
    return path.with_name(f".{path.name}.{role}-{secrets.token_hex(4)}")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn an operating system failure into one line."""
    try:
        yield
    except OSError as error:
        raise MemAuditError(f"cannot write {path}: {error.strerror or error}") from None


def _sync(path: Path) -> None:
    """Make a folder's entries durable where the system can."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems refuse to sync a folder
            os.fsync(handle)
    finally:
        os.close(handle)


def _write_new(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def write_file(path: Path, text: str) -> None:
    """Replace a file in one step; an interruption leaves the old one as it was."""
    path = path.absolute()
    with _told(path):
        if path.is_dir():
            raise MemAuditError(f"cannot write {path}: it is a folder, a file was expected")
        temporary = _neighbour(path, "new")
        try:
            _write_new(temporary, text)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync(path.parent)


def write_folder(path: Path, files: Mapping[str, str], ours: Collection[str]) -> None:
    """Replace a folder of files in one step; a folder holding anything but `ours` is refused."""
    path = Path(os.path.realpath(path))
    with _told(path):
        _refuse_foreign(path, ours)
        temporary = _neighbour(path, "new")
        try:
            temporary.mkdir()
            for name, text in files.items():
                _write_new(temporary / name, text)
            _sync(temporary)
            _swap(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        _sync(path.parent)


def _refuse_foreign(path: Path, ours: Collection[str]) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise MemAuditError(f"cannot write {path}: it is a file, a folder was expected")
    if foreign := sorted(set(os.listdir(path)) - set(ours)):
        raise MemAuditError(
            f"cannot write {path}: the folder holds {foreign[0]!r}, which is no part of a package; "
            "choose a new folder"
        )


def _swap(temporary: Path, path: Path) -> None:
    """Put the new folder in place of the old; put the old one back if that fails."""
    if not path.exists():
        temporary.rename(path)
        return
    old = _neighbour(path, "old")
    path.rename(old)
    try:
        temporary.rename(path)
    except OSError:
        old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)

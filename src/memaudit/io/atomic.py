"""Writing all or nothing: into a temporary neighbour, then moved into place in one step."""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.io.exchange import exchange
from memaudit.io.neighbour import held, remove, replaced


@contextmanager
def told(path: Path) -> Iterator[None]:
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


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write_file(path: Path, text: str) -> None:
    """Replace a file in one step; an interruption leaves the old one as it was."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """The same for a file that is no text."""
    path = path.absolute()
    with told(path):
        if path.is_dir():
            raise MemAuditError(f"cannot write {path}: it is a folder, a file was expected")
        with held(path) as temporary:
            _write(temporary, data)
            os.replace(temporary, path)
        _sync(path.parent)


def write_folder(path: Path, files: Mapping[str, str], ours: Collection[str]) -> None:
    """Replace a folder of files in one step; a folder holding anything but `ours` is refused."""
    path = Path(os.path.realpath(path))
    with told(path):
        _refuse_foreign(path, ours)
    with new_folder(path) as folder:
        for name, text in files.items():
            _write(folder / name, text.encode())


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """An empty folder to fill; in the end it takes the place of the one at `path` in one step."""
    with told(path):
        with held(path, folder=True) as temporary:
            yield temporary
            _sync(temporary)
            _swap(temporary, path)
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
    """Put the new folder in place of the old one."""
    old = path.with_name(f".{path.name}.old-part")
    if old.exists() and not path.exists():  # a process was killed between the two steps below
        old.rename(path)
    remove(old)
    if not path.exists():
        temporary.rename(path)
        return
    with replaced(path, temporary):
        if exchange(temporary, path):
            return
    # No single step does it here.
    path.rename(old)
    try:
        temporary.rename(path)
    except OSError:
        old.rename(path)
        raise
    remove(old)

"""Files and folders that are replaced in one step; an interruption leaves the old ones in place.

What is written goes to a temporary neighbour of the path first, under one name that one process at
a time locks. A killed process leaves its neighbour behind. Whoever writes to the same path next
finds that nobody locks it, and removes it.
"""

import ctypes
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from memaudit.core.errors import MemAuditError, cannot_write

_AT_FDCWD = -100
_EXCHANGE = 2
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def write_file(path: Path, text: str) -> None:
    """Replace a file in one step; an interruption leaves the old one as it was."""
    write_bytes(path, text.encode())


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """The same for lines, which need not fit into memory together."""
    _write_parts(path, (line.encode() for line in lines))


def write_bytes(path: Path, data: bytes) -> None:
    """The same for bytes."""
    _write_parts(path, [data])


def _write_parts(path: Path, parts: Iterable[bytes]) -> None:
    path = path.absolute()
    with one_line_errors(path):
        if path.is_dir():
            raise MemAuditError(f"cannot write {path}: it is a folder, a file was expected")
        with temporary_neighbour(path) as temporary:
            _write(temporary, parts)
            os.replace(temporary, path)
        _sync(path.parent)


def write_folder(path: Path, files: Mapping[str, str], ours: Collection[str]) -> None:
    """Replace a folder of files in one step; a folder holding anything but `ours` is refused."""
    path = Path(os.path.realpath(path))
    with one_line_errors(path):
        _refuse_foreign(path, ours)
    with new_folder(path) as folder:
        for name, text in files.items():
            _write(folder / name, [text.encode()])


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """An empty folder to fill; at the end it replaces the one at `path` in one step."""
    with one_line_errors(path):
        with temporary_neighbour(path, folder=True) as temporary:
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
            f"cannot write {path}: the folder holds {foreign[0]!r}, which is not part of a "
            "package; choose a new folder"
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
    with removed_after_swap(path, temporary):
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


def exchange(first: Path, second: Path) -> bool:
    """Exchange two existing paths in one step; False where the system cannot."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(first), os.fsencode(second)
    if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(second))


@contextmanager
def temporary_neighbour(path: Path, folder: bool = False) -> Iterator[Path]:
    """A new neighbour of a path, removed at the end. Waits for other writers of the same path."""
    place = neighbour_path(path)
    while True:
        try:
            handle = _create(place, folder)
        except FileExistsError:
            clear_leftover(path)
            continue
        if handle is None:
            continue
        _lock(handle)
        if _is_at(handle, place):
            break
        os.close(handle)  # another process cleared it before it was locked
    try:
        yield place
    finally:
        _remove(handle, place)


def neighbour_path(path: Path) -> Path:
    """Where the file or folder that will become `path` is made."""
    return path.with_name(f".{path.name}.new-part")


def _create(place: Path, folder: bool) -> int | None:
    """A handle of a new file or folder; None if another process removed it at once."""
    if folder:
        place.mkdir()
        with suppress(FileNotFoundError):  # another process cleared it
            return os.open(place, os.O_RDONLY)
        return None
    return os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)


def clear_leftover(path: Path) -> None:
    """Remove what a killed process left beside a path; a running one is waited for."""
    place = neighbour_path(path)
    try:
        mode = place.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # nothing we made
            place.unlink()
            return
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    _lock(handle)
    _remove(handle, place)


@contextmanager
def removed_after_swap(path: Path, place: Path) -> Iterator[None]:
    """Lock the folder at `path` while it is moved to `place`, then delete it there."""
    handle = os.open(path, os.O_RDONLY)
    _lock(handle)
    try:
        yield
    finally:
        _remove(handle, place)


def remove(place: Path) -> None:
    """Delete a file or folder if it exists."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with suppress(FileNotFoundError):
            place.unlink()


def _remove(handle: int, place: Path) -> None:
    """Delete what the handle locks, unless something else is at the place by now."""
    try:
        if _is_at(handle, place):
            remove(place)
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    """Wait until nobody else locks it; where a file system has no locks, do not wait."""
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)


def _is_at(handle: int, place: Path) -> bool:
    """Whether the file that was opened is still the one at the place."""
    try:
        return os.path.samestat(os.fstat(handle), place.lstat())
    except FileNotFoundError:
        return False


@contextmanager
def one_line_errors(path: Path) -> Iterator[None]:
    """Turn a failure of the operating system into one line."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from None


def _sync(path: Path) -> None:
    """Make a folder's entries durable where the system can."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems refuse to sync a folder
            os.fsync(handle)
    finally:
        os.close(handle)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())

"""The temporary neighbour of a path: one name, held by one process, cleared if its process died.

What is written here takes the path's place in one step. A killed process leaves its neighbour
behind; whoever writes to the same path next finds that nobody holds it, and removes it.
"""

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def neighbour(path: Path) -> Path:
    """Where a file or folder is made that is to become `path`."""
    return path.with_name(f".{path.name}.new-part")


@contextmanager
def held(path: Path, folder: bool = False) -> Iterator[Path]:
    """A fresh neighbour of a path, gone again at the end whatever happened.

    Another process that writes to the same path is waited for.
    """
    place = neighbour(path)
    while True:
        try:
            handle = _made(place, folder)
        except FileExistsError:
            clear(path)
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


@contextmanager
def replaced(path: Path, place: Path) -> Iterator[None]:
    """Hold the folder at `path` while it is moved to `place`, and delete it there."""
    handle = os.open(path, os.O_RDONLY)
    _lock(handle)
    try:
        yield
    finally:
        _remove(handle, place)


def remove(place: Path) -> None:
    """Delete a file or folder, if it is there."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with suppress(FileNotFoundError):
            place.unlink()


def _made(place: Path, folder: bool) -> int | None:
    """A handle of a new file or folder at a place where nothing is; None if it is gone again."""
    if folder:
        place.mkdir()
        with suppress(FileNotFoundError):  # another process cleared it
            return os.open(place, os.O_RDONLY)
        return None
    return os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)


def clear(path: Path) -> None:
    """Remove what a process that is gone left beside a path; one that is at work is waited for."""
    place = neighbour(path)
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


def _remove(handle: int, place: Path) -> None:
    """Delete what the handle holds if it is still at the place: else that is another's."""
    try:
        if _is_at(handle, place):
            remove(place)
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    """Wait until nobody else holds it; where a file system has no locks, go on without."""
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)


def _is_at(handle: int, place: Path) -> bool:
    """Whether the file that was opened is still the one at the place."""
    try:
        return os.path.samestat(os.fstat(handle), place.lstat())
    except FileNotFoundError:
        return False

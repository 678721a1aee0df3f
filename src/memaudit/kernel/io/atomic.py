"""Files and folders that are replaced in one step; an interruption leaves the old ones in place.

What is written goes to a temporary neighbour of the path first, under one name that one process at
a time locks. A killed process leaves its neighbour behind. Whoever writes to the same path next
finds that nobody locks it, and removes it.

Only regular files and folders are replaced, never a link, a pipe or a device; the new one has the
permissions and the owner of the old one. Folders on the way to the path may be links.
"""

import ctypes
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from memaudit.kernel.errors import MemAuditError, cannot_write
from memaudit.kernel.io.files import refuse_to_write

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
        refuse_to_write(path)
        with _neighbour(path, folder=False) as (temporary, handle):
            _write(handle, parts)
            _keep_access(handle, path)
            refuse_to_write(path)  # what came there meanwhile
            os.replace(temporary, path)
        _sync(path.parent)


def write_folder(path: Path, files: Mapping[str, str], ours: Collection[str]) -> None:
    """Replace a folder of files in one step; a folder holding anything but `ours` is refused."""
    with one_line_errors(path), new_folder(path, lambda: _refuse_foreign(path, ours)) as folder:
        for name, text in files.items():
            handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            try:
                _write(handle, [text.encode()])
                _keep_access(handle, path / name)
            finally:
                os.close(handle)


def make_folder(folder: Path) -> None:
    """Make the folder and its parents; a failure is one line."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error, "make") from None


@contextmanager
def new_folder(path: Path, refuse: Callable[[], None] = lambda: None) -> Iterator[Path]:
    """An empty folder to fill; at the end it replaces the one at `path` in one step.

    `refuse` raises if what is at `path` must stay. It is asked before and after other writers of
    the same path are waited for.
    """
    # A name of its own, for a neighbour: not `..`, and not that of a link's target.
    named = path.name not in ("", "..")
    path = path.parent.resolve() / path.name if named else path.resolve()
    with one_line_errors(path):
        _refuse_no_folder(path)
        refuse()
        with _neighbour(path, folder=True) as (temporary, handle):
            _refuse_no_folder(path)
            refuse()
            yield temporary
            _keep_access(handle, path)
            _sync(temporary)
            _refuse_no_folder(path)
            _swap(temporary, path)
        _sync(path.parent)


def _refuse_no_folder(path: Path) -> None:
    if path.is_symlink():
        raise MemAuditError(f"cannot write {path}: it is a link; give the path that it leads to")
    if os.path.lexists(path) and not path.is_dir():
        raise MemAuditError(f"cannot write {path}: it is a file, a folder was expected")


def _refuse_foreign(path: Path, ours: Collection[str]) -> None:
    if not path.exists():
        return
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
    # File systems and older kernels that have no exchange say so by one of these; the caller then
    # renames twice. Everything else is a failure to report.
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(second))


@contextmanager
def _neighbour(path: Path, folder: bool) -> Iterator[tuple[Path, int]]:
    """A new neighbour of a path and its handle, removed at the end.

    Waits for other writers of the same path.
    """
    place = neighbour_path(path)
    while True:
        try:
            handle = _create(place, folder, _mode(path, 0o777 if folder else 0o666))
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
        yield place, handle
    finally:
        _remove(handle, place)


def _mode(path: Path, new: int) -> int:
    """The permissions of what is at a path, or `new` ones: nobody else may read its successor."""
    try:
        return stat.S_IMODE(path.lstat().st_mode) & new
    except OSError:
        return new


def _keep_access(handle: int, path: Path) -> None:
    """Give a new file or folder the owner and the permissions of the one at a path, if any."""
    try:
        before = path.lstat()
    except OSError:
        return
    if stat.S_ISLNK(before.st_mode):
        return
    with suppress(OSError):  # only the superuser gives files away
        os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, stat.S_IMODE(before.st_mode))


def neighbour_path(path: Path) -> Path:
    """Where the file or folder that will become `path` is made."""
    return path.with_name(f".{path.name}.new-part")


def _create(place: Path, folder: bool, mode: int) -> int | None:
    """A handle of a new file or folder; None if another process removed it at once."""
    if folder:
        place.mkdir(mode | 0o700)
        with suppress(FileNotFoundError):  # another process cleared it
            return os.open(place, os.O_RDONLY)
        return None
    return os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)


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
    # Whoever wrote the old folder may not have let go of it: it is deleted once nobody locks it.
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


def _write(handle: int, parts: Iterable[bytes]) -> None:
    with open(handle, "wb", closefd=False) as file:
        file.writelines(parts)
        # On disk before it gets its name: after a power cut the name must not lead to an empty
        # file.
        file.flush()
        os.fsync(handle)

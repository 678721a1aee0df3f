"""Files and folders that are replaced in one step; an interruption leaves the old ones in place.

What is written goes to a temporary neighbour of the path first, which then takes its place. A
process that is killed leaves its neighbour behind: a hidden name that ends in `.new-part`.

Only regular files and folders are replaced, never a link, a pipe or a device; the new one has the
permissions and the owner of the old one. Folders on the way to the path may be links.
"""

import ctypes
import errno
import os
import secrets
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
        temporary = _neighbour(path)
        try:
            _write(temporary, parts, path)
            refuse_to_write(path)  # what came there meanwhile
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync(path.parent)


def write_folder(path: Path, files: Mapping[str, str], ours: Collection[str]) -> None:
    """Replace a folder of files in one step; a folder holding anything but `ours` is refused."""
    with new_folder(path, lambda: _refuse_foreign(path, ours)) as folder:
        for name, text in files.items():
            _write(folder / name, [text.encode()], path / name)


def make_folder(folder: Path) -> None:
    """Make the folder and its parents; a failure is one line."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error, "make") from None


@contextmanager
def new_folder(path: Path, refuse: Callable[[], None] = lambda: None) -> Iterator[Path]:
    """An empty folder to fill; at the end it replaces the one at `path` in one step.

    `refuse` raises if what is at `path` must stay. It is asked before and after the folder is
    filled.
    """
    # A name of its own, for a neighbour: not `..`, and not that of a link's target.
    named = path.name not in ("", "..")
    path = path.parent.resolve() / path.name if named else path.resolve()
    with one_line_errors(path):
        _refuse_no_folder(path)
        refuse()
        temporary = _neighbour(path)
        temporary.mkdir(_mode(path, 0o777) | 0o700)
        try:
            yield temporary
            _refuse_no_folder(path)
            refuse()
            handle = os.open(temporary, os.O_RDONLY)
            try:
                _keep_access(handle, path)
                _sync(temporary)
            finally:
                os.close(handle)
            _swap(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
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
    """Put the new folder in place of the old one, which is then at the place of the new one."""
    old = path.with_name(f".{path.name}.old-part")
    if old.exists() and not path.exists():  # a process was killed between the two steps below
        old.rename(path)
    shutil.rmtree(old, ignore_errors=True)
    if not path.exists():
        temporary.rename(path)
    elif not exchange(temporary, path):  # no single step does it here
        path.rename(old)
        try:
            temporary.rename(path)
        except OSError:
            old.rename(path)
            raise
        shutil.rmtree(old, ignore_errors=True)


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


def _neighbour(path: Path) -> Path:
    """Where the file or folder that will become `path` is made; no other writer has this name."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.new-part")


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


def _write(new: Path, parts: Iterable[bytes], path: Path) -> None:
    """Make a new file that will take the place of the one at `path`."""
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _mode(path, 0o666))
    with open(handle, "wb") as file:
        file.writelines(parts)
        _keep_access(handle, path)
        # On disk before it gets its name: after a power cut the name must not lead to an empty
        # file.
        file.flush()
        os.fsync(handle)

"""Run folders: each belongs to one run, one process at a time works in it, a killed run resumes.

The file that claims a folder says what is run (`run.json`, `spec.json`). The rows go into a journal
in an order that this file fixes, so at any moment the journal is the beginning of the finished one.
Whoever opens a claimed folder for something else is refused.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import make_folder, write_file
from memaudit.kernel.io.strict_json import read_object
from memaudit.workspace.journal import open_locked

LOCK, SPEC, ROWS = ".lock", "spec.json", "rows.jsonl"
EMPTY = "is an empty folder"


@contextmanager
def claimed(
    folder: Path,
    file: str,
    content: Mapping[str, Any],
    refuse_others: Callable[[], None],
    *,
    also: Sequence[str] = (),
    indent: int = 1,
) -> Iterator[None]:
    """Lock the folder and claim it by writing `content` to `file`, or resume an earlier claim.

    Where the file already exists, `refuse_others` reads it and raises if it is of another run.
    If a new run fails before its first row, its files (`also` names further ones) are removed.
    """
    with locked(folder):
        resumes = (folder / file).exists()
        if resumes:
            refuse_others()
        elif (folder / ROWS).exists():
            raise MemAuditError(f"{folder} holds {ROWS} but no {file}; choose another folder")
        else:
            write_file(folder / file, json.dumps(content, indent=indent) + "\n")
        try:
            yield
        except MemAuditError:
            if not resumes and not _has_rows(folder):
                _clear(folder, (ROWS, *also, file))
            raise


@contextmanager
def claimed_by_spec(
    folder: Path, format: str, what: str, spec: Mapping[str, Any], also: Sequence[str] = ()
) -> Iterator[None]:
    """`claimed` by a `spec.json` that holds everything that decides the rows."""

    def refuse_others() -> None:
        refuse_other_run(folder, what, read_spec(folder, format, what), spec)

    content = {"format": format, "version": 1, "spec": spec}
    with claimed(folder, SPEC, content, refuse_others, also=also):
        yield


def read_spec(folder: Path, format: str, what: str) -> dict[str, Any]:
    """The spec that claims a folder; empty where the file has none."""
    path = folder / SPEC
    data = read_object(path, "choose another folder")
    if data.get("format") != format:
        raise MemAuditError(f"{path} is not the spec of a {what}; choose another folder")
    spec = data.get("spec")
    return spec if isinstance(spec, dict) else {}


def refuse_other_run(
    folder: Path, what: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> None:
    """An error that names the settings in which the folder's run and this one differ, if any do."""
    if names := different_settings(before, now):
        raise MemAuditError(
            f"{folder} holds another {what} (different: {', '.join(names)}); choose another folder"
        )


def different_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The names of settings that differ, once those of now are JSON too."""
    wanted = json.loads(json.dumps(now))
    absent = object()
    return [
        name
        for name in {**wanted, **before}
        if before.get(name, absent) != wanted.get(name, absent)
    ]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if needed and hold its lock; another process that holds it is an error.

    The lock ends with the process: a killed one leaves a file that locks nobody out. A new folder
    into which nothing was written is removed.
    """
    existed = folder.exists()
    make_folder(folder)
    with open_locked(folder / LOCK, folder):
        try:
            yield
        finally:
            with suppress(OSError):
                (folder / LOCK).unlink()
            if not existed:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()


def make_own_folder(folder: Path) -> None:
    """Make a folder inside a folder of ours; a link in its place is refused."""
    if folder.is_symlink():
        raise MemAuditError(
            f"cannot write {folder}: it is a link, and what is written here stays in "
            f"{folder.parent}; remove it or choose another folder"
        )
    make_folder(folder)


def _clear(folder: Path, names: Sequence[str]) -> None:
    """Remove the files of a run that failed before its first row, as many as can be removed."""
    for name in names:
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def _has_rows(folder: Path) -> bool:
    rows = folder / ROWS
    return rows.exists() and rows.stat().st_size > 0


def entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Every entry by its path, sorted, with what is wrong with it: an empty text for a plain file.

    Links are never followed. Locks and folders that are not empty are left out.
    """
    rows = []
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place, name)
            wrong = _refused(path)
            if wrong is not None:
                rows.append((path.relative_to(folder).as_posix(), wrong))
    yield from sorted(rows)


def _refused(path: Path) -> str | None:
    """Why an entry is not one of ours, an empty text for a file, None for what needs no mention."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "is a link; only plain files can be vouched for"
    if stat.S_ISDIR(status.st_mode):
        return None if any(path.iterdir()) else EMPTY
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if path.name == LOCK and not status.st_size:
        return None
    return ""


def files_in(folder: Path) -> Iterator[str]:
    """Every file by its path from the folder, sorted; only locks are left out."""
    for name, wrong in entries(folder):
        if wrong and wrong != EMPTY:
            raise MemAuditError(f"{folder / name} {wrong}; remove it or choose another folder")
        if not wrong:
            yield name

"""What a user points at: one or more files, read once, bounded, and told apart by content."""

import os
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memaudit.adapters.decode import Parsed, parse
from memaudit.adapters.sqlite_tables import MAGIC, schema
from memaudit.core.errors import MemAuditError
from memaudit.io.files import sha256
from memaudit.io.lenient_json import encodable

MAX_BYTES = 256 << 20
"""Of one file: an export is parsed in memory."""

_REFUSED = {
    b"\x80\x02": "a pickle", b"\x80\x03": "a pickle", b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle", b"PK\x03\x04": "a zip archive", b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive", b"\xfd7zXZ": "an xz archive", b"\x28\xb5\x2f\xfd": "a zstd archive",
}  # fmt: skip
"""Never opened: a pickle runs code when it is read, an archive may unpack to anything."""


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One file: its `tables` where it is SQLite, else what was `parsed`."""

    path: Path
    name: str
    kind: Literal["json", "lines", "text", "sqlite"]
    parsed: Parsed = field(default_factory=Parsed)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ExportSource:
    """The files of one export, in order; a folder's are named by their path in it."""

    name: str
    parts: tuple[ExportFile, ...]
    folder: bool = False
    left_out: dict[str, str] = field(default_factory=dict)
    """Files of a folder that were not read, and why."""


def open_source(paths: Sequence[Path]) -> ExportSource:
    """Read what the paths hold."""
    if not paths:
        raise MemAuditError("no file given; give the export of a memory system")
    if len(paths) == 1 and os.path.isdir(paths[0]):  # never raises, unlike Path.is_dir
        return open_folder(paths[0])
    parts = tuple(open_part(path, name) for path, name in zip(paths, _names(paths), strict=True))
    return ExportSource(name=encodable(paths[0].stem) or "store", parts=parts)


def _names(paths: Sequence[Path]) -> list[str]:
    """What the files are called: without their folder, unless two would be called the same."""
    plain = [encodable(path.name) for path in paths]
    seen: Counter[str] = Counter()
    names: list[str] = []
    for path, name in zip(paths, plain, strict=True):
        wanted = name if plain.count(name) == 1 else encodable(f"{path.parent.name}/{path.name}")
        seen[wanted] += 1
        names.append(wanted if seen[wanted] == 1 else f"{wanted}#{seen[wanted]}")
    return names


def open_part(path: Path, name: str, as_text: bool = False) -> ExportFile:
    """Read one file; as text where its folder says so."""
    data = read_bytes(path, name)
    digest = sha256(data)
    if data.startswith(MAGIC):
        return ExportFile(path, name, "sqlite", tables=schema(path, name), digest=digest)
    for mark, what in _REFUSED.items():
        if data.startswith(mark):
            fix = "export JSON instead" if what == "a pickle" else "unpack it first"
            raise MemAuditError(f"{name}: is {what}, which is never opened ({fix})")
    parsed = parse(data, name, as_text)
    return ExportFile(path, name, parsed.kind, parsed, digest=digest)


def read_bytes(path: Path, name: str) -> bytes:
    """The content of a regular file that is not too large."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise MemAuditError(f"{name}: is a folder among several paths (give one folder alone)")
        if not stat.S_ISREG(status.st_mode):
            raise MemAuditError(f"{name}: is not a regular file (give a file on disk)")
        if status.st_size > MAX_BYTES:
            raise MemAuditError(
                f"{name}: is too large: {status.st_size} bytes, at most {MAX_BYTES} are read "
                "(export in pages)"
            )
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # it may grow while it is read
        if len(data) > MAX_BYTES:
            raise MemAuditError(f"{name}: is too large: more than {MAX_BYTES} bytes")
        return data
    except FileNotFoundError:
        raise MemAuditError(f"{name}: does not exist (check the path)") from None
    except (OSError, ValueError) as error:  # a NUL byte in a path is a ValueError
        why = getattr(error, "strerror", None) or error
        raise MemAuditError(f"{name}: cannot be read: {why}") from None


ALONE = ("written_stores.jsonl", "textual_memory.json")
"""Files that are the store of the folder they are in: the published layout, a MemOS cube."""

EXPORTS = (".af", ".json", ".jsonl", ".db", ".sqlite", ".sqlite3")
TEXTS = (".md", ".txt", ".xml")
MAX_FILES = 10_000
MAX_TOTAL = 256 << 20
GENERATED = "memory_filesystem.md"
"""Letta Code's own index of the folder: not a memory."""


def open_folder(folder: Path) -> ExportSource:
    """The parts of a folder."""
    names = _folders_names(folder)
    name = encodable(folder.resolve().name) or "folder"
    if not names:
        raise MemAuditError(f"{name}: is an empty folder (a store was expected)")
    top = [one for one in names if "/" not in one]
    if alone := [one for one in ALONE if one in top]:
        wanted = alone[:1]
    elif any(one.endswith(TEXTS) for one in names):
        return _texts(folder, name, names)
    else:
        wanted = [one for one in top if one.endswith(EXPORTS)]
    if not wanted:
        raise MemAuditError(f"{name}: holds no export and no memory file (found {names[0]!r})")
    left_out = {encodable(one): "another file of the folder" for one in names if one not in wanted}
    parts = tuple(open_part(folder / one, encodable(one)) for one in wanted)
    return ExportSource(name, parts, left_out=left_out)


def _texts(folder: Path, name: str, names: list[str]) -> ExportSource:
    """Every memory file below, by its path; hidden ones, links and other kinds are left out."""
    parts: list[ExportFile] = []
    left_out: dict[str, str] = {}
    total = 0
    for one in names:
        path = folder / one
        if path.is_symlink():
            left_out[encodable(one)] = "symbolic link"
        elif one.rpartition("/")[2] == GENERATED:
            left_out[encodable(one)] = "generated index"
        elif not one.endswith(TEXTS):
            left_out[encodable(one)] = "not a memory file"
        else:
            total += path.stat().st_size
            if total > MAX_TOTAL:
                raise MemAuditError(f"{name}: its files hold more than {MAX_TOTAL} bytes")
            parts.append(open_part(path, encodable(one), as_text=True))
    return ExportSource(name, tuple(parts), folder=True, left_out=left_out)


def _refuse(error: OSError) -> None:
    """A folder inside that cannot be listed: without it the store would be read in part."""
    raise error


def _folders_names(folder: Path) -> list[str]:
    """The paths of all files below, sorted; hidden folders (.git) and files are not entered."""
    found: list[str] = []
    try:
        for place, folders, files in os.walk(folder, onerror=_refuse, followlinks=False):
            folders[:] = sorted(one for one in folders if not one.startswith("."))
            links = [one for one in folders if os.path.islink(os.path.join(place, one))]
            below = os.path.relpath(place, folder)
            found += [
                (Path(below) / file).as_posix()
                for file in [*sorted(files), *links]
                if not file.startswith(".")
            ]
            if len(found) > MAX_FILES:
                raise MemAuditError(f"{folder.name}: holds more than {MAX_FILES} files")
    except OSError as error:
        name = encodable(os.path.relpath(error.filename or folder, folder.parent))
        raise MemAuditError(f"{name}: cannot be read: {error.strerror or error}") from None
    return sorted(found)

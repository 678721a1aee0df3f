"""What a user points at: one or more files, read once, bounded, and told apart by content."""

import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memaudit.adapters.decode import Parsed, parse
from memaudit.adapters.sqlite_tables import MAGIC, schema
from memaudit.core.errors import MemAuditError
from memaudit.datasets.irregular import whole
from memaudit.io.files import sha256

MAX_BYTES = 256 << 20
"""Of one file: an export is parsed in memory."""

_REFUSED = {
    b"\x80\x02": "a pickle", b"\x80\x03": "a pickle", b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle", b"PK\x03\x04": "a zip archive", b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive", b"\xfd7zXZ": "an xz archive", b"\x28\xb5\x2f\xfd": "a zstd archive",
}  # fmt: skip
"""Never opened: a pickle runs code when it is read, an archive may unpack to anything."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file: its `tables` where it is SQLite, else what was `parsed`."""

    path: Path
    name: str
    kind: Literal["json", "lines", "text", "sqlite"]
    parsed: Parsed = field(default_factory=Parsed)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The files of one export, in order; a folder's are named by their path in it."""

    name: str
    parts: tuple[Part, ...]
    folder: bool = False
    left_out: dict[str, str] = field(default_factory=dict)
    """Files of a folder that were not read, and why."""


def open_source(paths: Sequence[Path]) -> Source:
    """Read what the paths hold."""
    if not paths:
        raise MemAuditError("no file given; give the export of a memory system")
    if len(paths) == 1 and paths[0].is_dir():
        from memaudit.adapters.folders import open_folder

        return open_folder(paths[0])
    parts = tuple(open_part(path, whole(path.name)) for path in paths)
    return Source(name=whole(paths[0].stem) or "store", parts=parts)


def open_part(path: Path, name: str, as_text: bool = False) -> Part:
    """Read one file; as text where its folder says so."""
    data = read_bytes(path, name)
    digest = sha256(data)
    if data.startswith(MAGIC):
        return Part(path, name, "sqlite", tables=schema(path, name), digest=digest)
    for mark, what in _REFUSED.items():
        if data.startswith(mark):
            fix = "export JSON instead" if what == "a pickle" else "unpack it first"
            raise MemAuditError(f"{name}: is {what}, which is never opened ({fix})")
    parsed = parse(data, name, as_text)
    return Part(path, name, parsed.kind, parsed, digest=digest)


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
        return path.read_bytes()
    except FileNotFoundError:
        raise MemAuditError(f"{name}: does not exist (check the path)") from None
    except (OSError, ValueError) as error:  # a NUL byte in a path is a ValueError
        raise MemAuditError(f"{name}: cannot be read: {error}") from None

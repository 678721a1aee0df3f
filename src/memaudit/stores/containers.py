"""Zip archives and SQLite files, read only: nothing is unpacked to disk, no code in them is run."""

import io
import shutil
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import open_regular, read_bytes
from memaudit.kernel.io.foreign_json import encodable
from memaudit.kernel.words.text import one_line, shortened

MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""An archive with members, and an empty one."""

MOST_MEMBERS = 10_000
LARGEST_DIRECTORY = 1 << 20
"""Bytes of the list of members, which is read before anything else."""

LARGEST_RATIO = 200
"""Bytes that a compressed byte may become; texts become about ten."""

ANY_RATIO = 1 << 20
"""Bytes up to which a member may be compressed in any way."""

LONGEST_FAULT = 120
PIECE = 1 << 16
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""What the zipfile module raises for damaged or hostile archives."""


def is_archive(path: Path, name: str) -> bool:
    with open_regular(path, name) as file:
        return file.read(4) in MAGICS


class Archive:
    """The members of a zip file by their names; all that is read is at most `max_bytes`."""

    def __init__(self, path: Path, name: str, max_bytes: int) -> None:
        data = read_bytes(path, max_bytes, name)
        self.name = name
        # Members may share their bytes, so the archive as a whole has the bound of a member too.
        self.most = self.left = min(max_bytes, max(ANY_RATIO, LARGEST_RATIO * len(data)))
        file = _GuardedFile(data)
        file.label = name
        try:
            self._zip = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise self._damaged(error) from None
        members = self._zip.infolist()
        if len(members) > MOST_MEMBERS:
            raise MemAuditError(_too_many(name))
        # Not is_dir(), which fails on a name without a character.
        self.members = [member for member in members if not member.filename.endswith("/")]

    @property
    def names(self) -> list[str]:
        return [member.filename for member in self.members]

    def read(self, wanted: str) -> bytes:
        """The content of a member, checked before it is unpacked and while it is."""
        found = [member for member in self.members if member.filename == wanted]
        place = f"{self.name}: {encodable(wanted)}"
        if len(found) != 1:
            raise MemAuditError(f"{place} is in the archive {len(found)} times")
        (member,) = found
        if member.flag_bits & ENCRYPTED:
            raise MemAuditError(f"{place} is encrypted (unpack it with its password first)")
        if member.compress_type not in METHODS:
            raise MemAuditError(f"{place} is compressed in an unusual way (unpack it first)")
        # The size is what the archive claims; reading stops there, whatever the data would become.
        if member.file_size > max(ANY_RATIO, LARGEST_RATIO * member.compress_size):
            raise MemAuditError(
                f"{place} would become more than {LARGEST_RATIO} times as large as it is in the "
                "archive, which is not opened"
            )
        if member.file_size > self.left:
            raise MemAuditError(
                f"{place} is too large: {member.file_size:,} bytes; of this archive at most "
                f"{self.most:,} are read"
            )
        self.left -= member.file_size
        pieces = []
        try:
            with self._zip.open(member) as stream:
                while piece := stream.read(PIECE):  # never more than file_size in total
                    pieces.append(piece)
        except _BROKEN as error:
            raise self._damaged(error) from None
        return b"".join(pieces)

    def _damaged(self, error: Exception) -> MemAuditError:
        fault = shortened(one_line(encodable(str(error))), LONGEST_FAULT)
        return MemAuditError(
            f"{self.name}: is a damaged or truncated zip archive: {fault} (download it again)"
        )


class _GuardedFile(io.BytesIO):
    """The bytes of an archive. The zipfile module reads the list of members at once, of whatever
    size the file claims it to be."""

    label = ""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > LARGEST_DIRECTORY:
            raise MemAuditError(_too_many(self.label))
        return super().read(size)


def _too_many(name: str) -> str:
    return f"{name}: holds too many members for an export, at most {MOST_MEMBERS:,} are listed"


MAGIC = b"SQLite format 3\0"
LONGEST_VALUE = 64 << 20
"""Bytes of a text or blob: a few words of SQL can ask for gigabytes."""

LARGEST_LOG = 256 << 20
"""Bytes; the log is copied before it is read."""

STEPS = 1_000_000
MOST_STEPS = 2_000
"""Instructions between two checks, and checks before a query is stopped."""


def schema(path: Path, name: str) -> dict[str, tuple[str, ...]]:
    """The tables, each with its columns. Views are left out: they are code of the file's author."""
    with _opened(path, name) as connection:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        tables = [_text(row[0]) for row in connection.execute(query)]
        return {
            table: tuple(
                _text(row[0])
                for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
            )
            for table in tables
        }


def rows(
    path: Path, name: str, table: str, columns: tuple[str, ...], order: str = ""
) -> Iterator[dict[str, object]]:
    """The rows of a table, as they are stored unless an order is given; text comes as bytes, which
    need not be UTF-8."""
    wanted = ", ".join(map(_quoted, columns))
    ordered = f"ORDER BY {order}" if order else "NOT INDEXED"
    with _opened(path, name) as connection:
        for row in connection.execute(f"SELECT {wanted} FROM {_quoted(table)} {ordered}"):
            yield dict(zip(columns, row, strict=True))


def _quoted(name: str) -> str:
    """A name of the file's author, which may hold quotes, as a name in SQL."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _opened(path: Path, name: str) -> Iterator[sqlite3.Connection]:
    log = path.with_name(f"{path.name}-wal")
    try:
        # A log with rows that are not yet in the main file is copied, to leave both untouched.
        size = log.stat().st_size if log.is_file() else 0
        if size > LARGEST_LOG:
            raise MemAuditError(
                f"{log.name}: is larger than {LARGEST_LOG >> 20} MB (checkpoint it)"
            )
        if size:
            with TemporaryDirectory() as folder:
                copy = Path(folder) / "store.db"
                shutil.copyfile(path, copy)
                shutil.copyfile(log, copy.with_name("store.db-wal"))
                with _connected(copy, "mode=rw") as connection:
                    yield connection
        else:
            with _connected(path, "mode=ro&immutable=1") as connection:
                yield connection
    except sqlite3.Error as error:
        raise MemAuditError(f"{name}: cannot be read as SQLite: {error}") from None
    except OSError as error:
        raise MemAuditError(f"{name}: cannot be read: {error.strerror or error}") from None


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    address = f"file:{quote(str(path.resolve()))}?{mode}"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        left = iter(range(MOST_STEPS))
        connection.set_progress_handler(lambda: next(left, None) is None, STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")
        yield connection


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

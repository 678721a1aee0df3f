"""SQLite files, read only: no code in them is run."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from memaudit.kernel.errors import MemAuditError

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

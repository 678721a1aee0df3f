"""SQLite files, read only: nothing is written beside them, nothing in them is run."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from memaudit.core.errors import MemAuditError

MAGIC = b"SQLite format 3\0"


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
    path: Path, name: str, table: str, columns: tuple[str, ...], order: str
) -> Iterator[dict[str, object]]:
    """The rows of a table; text comes as bytes, since a file may hold any."""
    wanted = ", ".join(f'"{column}"' for column in columns)
    with _opened(path, name) as connection:
        for row in connection.execute(f'SELECT {wanted} FROM "{table}" ORDER BY {order}'):
            yield dict(zip(columns, row, strict=True))


@contextmanager
def _opened(path: Path, name: str) -> Iterator[sqlite3.Connection]:
    log = path.with_name(f"{path.name}-wal")
    try:
        if (
            log.exists() and log.stat().st_size
        ):  # rows not yet in the main file: read a copy of both
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
        connection.execute("PRAGMA trusted_schema = OFF")
        yield connection


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

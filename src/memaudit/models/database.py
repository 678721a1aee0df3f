"""A SQLite file that must not lose a row: opened, checked, written one transaction at a time."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import refuse_to_write

COMPANIONS = ("", "-wal", "-shm", "-journal")
"""Endings of the files that SQLite writes for one database."""


@dataclass(frozen=True, slots=True)
class Schema:
    """What a file of ours contains, and what messages call it."""

    application: int
    """Marks the file as ours, so that no other database is written into by mistake."""
    version: int
    tables: str
    name: str
    option: str
    """The option of a command that names the file."""


def refuse_special_database(path: Path) -> None:
    """Refuse a database, or a companion of one, that is a link or not a regular file."""
    for ending in COMPANIONS:
        refuse_to_write(path.with_name(f"{path.name}{ending}") if path.name else path)


class Database:
    """One connection, shared by the threads of a process behind a lock.

    What was written is on disk when `writing` ends, even if the power fails then.
    """

    def __init__(self, path: Path, schema: Schema, patience: float) -> None:
        """Wait that many seconds for another process that is writing."""
        self.path, self._schema, self._patience = path, schema, patience
        self._lock = threading.RLock()
        # Before SQLite opens it: a link could lead a write to any file of the user.
        refuse_special_database(path)
        with self._one_line_errors():
            self._connection = sqlite3.connect(
                path, timeout=patience, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        link = self._connection
        (objects,) = link.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if objects:
            self._refuse_foreign()
        # Readers go on while one process writes, which the default mode does not allow.
        self._enter_wal()
        # NORMAL, as is usual with WAL, may lose the last transactions with the power. These were
        # paid for.
        link.execute("PRAGMA synchronous = FULL")
        with self.writing():
            self._refuse_foreign(new=True)
            for statement in filter(str.strip, self._schema.tables.split(";")):
                link.execute(statement)
            link.execute(f"PRAGMA application_id = {self._schema.application}")
            link.execute(f"PRAGMA user_version = {self._schema.version}")

    def _refuse_foreign(self, new: bool = False) -> None:
        schema = self._schema
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if new and (application, version) == (0, 0):
            return
        if application != schema.application:
            raise MemAuditError(f"{self.path}: belongs to another program; check {schema.option}")
        if version != schema.version:
            raise MemAuditError(
                f"{self.path}: is a file of {schema.name} in version {version}, this memaudit "
                f"reads {schema.version}; export from it with the memaudit that wrote it"
            )

    def _enter_wal(self) -> None:
        """Write-ahead logging; switching needs the file alone, and SQLite does not wait for it."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                (mode,) = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        if mode != "wal":
            raise MemAuditError(f"{self.path}: needs a local disk (SQLite mode {mode})")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is written or nothing. A nested one is part of the outer one."""
        with self._lock, self._one_line_errors():
            if self._connection.in_transaction:  # ours: the lock is held, and it is reentrant
                yield self._connection
                return
            # A transaction that begins as a reader and then writes can fail at once, without
            # waiting.
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._lock, self._one_line_errors():
            return self._connection.execute(sql, values).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _one_line_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            hint = ""
            if "locked" in str(error):
                hint = "; is another program holding it?"
            elif "unable to open" in str(error) or "readonly" in str(error):
                hint = f"; {self._schema.option} needs a file in a folder that you may write to"
            raise MemAuditError(
                f"cannot use the {self._schema.name} in {self.path}: {error}{hint}"
            ) from None

"""The SQLite file under the cache: opening, checking, and one transaction at a time."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memaudit.core.errors import MemAuditError

APPLICATION = 0x4D454D43
"""Marks the file as ours ("MEMC"), so that no other database is written into by mistake."""

VERSION = 1
PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""

TABLES = """
CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, request TEXT NOT NULL, model TEXT NOT NULL, template TEXT NOT NULL,
  template_version TEXT NOT NULL, raw TEXT NOT NULL, parsed TEXT NOT NULL, calls INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost TEXT NOT NULL,
  unpriced INTEGER NOT NULL, unmeasured INTEGER NOT NULL, provider TEXT NOT NULL,
  served_model TEXT NOT NULL, wire TEXT NOT NULL, seconds REAL NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS attempts (
  id TEXT PRIMARY KEY, key TEXT NOT NULL, request TEXT NOT NULL, kind TEXT NOT NULL,
  detail TEXT NOT NULL, raw TEXT NOT NULL, calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, cost TEXT NOT NULL, unpriced INTEGER NOT NULL,
  unmeasured INTEGER NOT NULL, provider TEXT NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS attempts_by_key ON attempts (key, at, id);
CREATE TABLE IF NOT EXISTS pending (key TEXT PRIMARY KEY, request TEXT NOT NULL) WITHOUT ROWID;
"""


class Database:
    """One connection, shared by the threads of a process behind a lock."""

    def __init__(self, path: Path, must_exist: bool = False) -> None:
        self.path = path
        if must_exist and not path.is_file():
            raise MemAuditError(f"{path}: there is no cache here; check --cache")
        self._lock = threading.RLock()
        with self._told():
            self._connection = sqlite3.connect(
                path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
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
        self._enter_wal()
        # Every answer was paid for: it is on disk before it counts, even if the power fails.
        link.execute("PRAGMA synchronous = FULL")
        with self.writing():
            self._refuse_foreign(new=True)
            for statement in filter(str.strip, TABLES.split(";")):
                link.execute(statement)
            link.execute(f"PRAGMA application_id = {APPLICATION}")
            link.execute(f"PRAGMA user_version = {VERSION}")

    def _refuse_foreign(self, new: bool = False) -> None:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if new and (application, version) == (0, 0):
            return
        if application != APPLICATION:
            raise MemAuditError(f"{self.path}: is another program's database; check --cache")
        if version != VERSION:
            raise MemAuditError(
                f"{self.path}: is a cache of version {version}, this memaudit reads {VERSION}; "
                "export it with the memaudit that wrote it"
            )

    def _enter_wal(self) -> None:
        """Write-ahead logging; switching needs the file alone, and SQLite does not wait for it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                (mode,) = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        if mode != "wal":
            raise MemAuditError(f"{self.path}: a cache needs a local disk (SQLite mode {mode})")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is kept whole or not at all; inside another one, a part of it."""
        with self._lock, self._told():
            if self._connection.in_transaction:  # ours: the lock is held, and it is reentrant
                yield self._connection
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def rows(self, sql: str, *values: str) -> list[tuple[str | int | float, ...]]:
        """What a query finds."""
        with self._lock, self._told():
            return self._connection.execute(sql, values).fetchall()

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise MemAuditError(f"cannot use the cache {self.path}: {error}") from None

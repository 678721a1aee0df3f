"""The SQLite file that labels are kept in: opening, checking, and one transaction at a time."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError

APPLICATION = 0x4D454D4C
"""Marks the file as ours ("MEML"), so that no other database is written into by mistake."""

VERSION = 1
PATIENCE = 20.0
"""Seconds to wait for another process that is writing."""

_LABELS = "'full', 'partial', 'none', 'cannot_tell'"
TABLES = f"""
CREATE TABLE IF NOT EXISTS frame (digest TEXT PRIMARY KEY, cells INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS decisions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, cell_id TEXT NOT NULL, annotator TEXT NOT NULL,
  label TEXT CHECK (label IN ({_LABELS})), note TEXT NOT NULL, at TEXT NOT NULL,
  undoes INTEGER UNIQUE REFERENCES decisions (id)
);
CREATE INDEX IF NOT EXISTS decisions_by_cell ON decisions (annotator, cell_id, id);
CREATE TABLE IF NOT EXISTS drafts (
  annotator TEXT NOT NULL, cell_id TEXT NOT NULL, note TEXT NOT NULL,
  PRIMARY KEY (annotator, cell_id)
) WITHOUT ROWID;
"""


class Database:
    """One connection, shared by the threads of a process behind a lock, bound to one frame."""

    def __init__(
        self, path: Path, digest: str, cells: int, must_exist: bool, patience: float = PATIENCE
    ) -> None:
        self.path = path
        self._patience = patience
        self._lock = threading.RLock()
        if must_exist and not path.is_file():
            raise MemAuditError(f"{path}: no labels here yet; check the frame and --labels")
        with self._told():
            self._connection = sqlite3.connect(
                path, timeout=patience, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(digest, cells)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self, digest: str, cells: int) -> None:
        link = self._connection
        (objects,) = link.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if objects:
            self._refuse_foreign()
        self._enter_wal()
        # A label that the page calls saved is on disk, even if the power fails.
        link.execute("PRAGMA synchronous = FULL")
        with self.writing():
            self._refuse_foreign(new=True)
            for statement in filter(str.strip, TABLES.split(";")):
                link.execute(statement)
            link.execute(f"PRAGMA application_id = {APPLICATION}")
            link.execute(f"PRAGMA user_version = {VERSION}")
            bound = link.execute("SELECT digest, cells FROM frame").fetchone()
            if bound is None:
                link.execute("INSERT INTO frame VALUES (?, ?)", (digest, cells))
            elif bound[0] != digest:
                raise MemAuditError(
                    f"{self.path}: holds labels of another frame ({bound[1]} cells, digest "
                    f"{bound[0][:12]}; this one has {cells}, {digest[:12]}); give another --labels"
                )
        (verdict,) = link.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise MemAuditError(
                f"{self.path}: is damaged ({' '.join(verdict.split())}); go on from a copy, or "
                "save what is left with .recover of sqlite3"
            )

    def _refuse_foreign(self, new: bool = False) -> None:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if new and (application, version) == (0, 0):
            return
        if application != APPLICATION:
            raise MemAuditError(f"{self.path}: is another program's database; check --labels")
        if version != VERSION:
            raise MemAuditError(
                f"{self.path}: holds labels in version {version}, this memaudit reads {VERSION}; "
                "export them with the memaudit that wrote them"
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
            raise MemAuditError(f"{self.path}: labels need a local disk (SQLite mode {mode})")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is kept whole or not at all, on disk when it is left."""
        with self._lock, self._told():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
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
            why = f"{error}; is another program holding it?" if "locked" in str(error) else error
            raise MemAuditError(f"cannot use the labels in {self.path}: {why}") from None

"""Vectors that an address gave, kept in one SQLite file: asked for once, the same ever after."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from memaudit.core.errors import MemAuditError
from memaudit.downstream.embedders.protocol import Vectors

APPLICATION = 0x4D454D56
"""Marks the file as ours ("MEMV")."""

PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""


class VectorFile:
    """By model and text; who served the model is no part of the key."""

    def __init__(self, path: Path, model: str) -> None:
        self.path, self._model = path, model

    def known(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vectors of those texts that have one."""
        if not self.path.exists():
            return {}
        found = {}
        with self._open() as link:
            for text in dict.fromkeys(texts):
                row = link.execute("SELECT vector FROM vectors WHERE key = ?", (self._key(text),))
                if hit := row.fetchone():
                    found[text] = np.frombuffer(hit[0], np.float64)
        return found

    def keep(self, vectors: Mapping[str, Vectors]) -> None:
        """Add vectors; one that is there already stays."""
        rows = [(self._key(text), vector.tobytes()) for text, vector in vectors.items()]
        with self._open() as link, link:
            link.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)

    def _key(self, text: str) -> str:
        whole = f"{self._model}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(whole).hexdigest()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as link:
                (owner,) = link.execute("PRAGMA application_id").fetchone()
                (objects,) = link.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if objects and owner != APPLICATION:
                    raise MemAuditError(f"{self.path}: is no file of vectors; check --cache")
                with link:
                    link.execute(f"PRAGMA application_id = {APPLICATION}")
                    link.execute(
                        "CREATE TABLE IF NOT EXISTS vectors "
                        "(key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
                    )
                yield link
        except sqlite3.Error as error:
            raise MemAuditError(f"cannot use the vectors in {self.path}: {error}") from None

"""The SQLite file under the cache of answers."""

from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.io.database import Database, Form

_TABLES = """
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
FORM = Form(0x4D454D43, 1, _TABLES, name="answers", option="--cache")
"""Marked "MEMC"."""

PATIENCE = 60.0


class CacheDatabase(Database):
    """Answers, attempts and what waits; every answer was paid for."""

    def __init__(self, path: Path, must_exist: bool = False) -> None:
        if must_exist and not path.is_file():
            raise MemAuditError(f"{path}: there is no cache here; check --cache")
        super().__init__(path, FORM, PATIENCE)

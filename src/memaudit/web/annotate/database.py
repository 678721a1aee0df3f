"""The SQLite file that labels are kept in, bound to one frame."""

from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.io.database import Database, Form

_LABELS = "'full', 'partial', 'none', 'cannot_tell'"
_TABLES = f"""
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
FORM = Form(0x4D454D4C, 1, _TABLES, name="labels", option="--labels")
"""Marked "MEML"."""

PATIENCE = 20.0


class LabelDatabase(Database):
    """Decisions and drafts of every annotator of a frame."""

    def __init__(
        self, path: Path, digest: str, cells: int, must_exist: bool, patience: float = PATIENCE
    ) -> None:
        if must_exist and not path.is_file():
            raise MemAuditError(f"{path}: no labels here yet; check the frame and --labels")
        self._digest, self._cells = digest, cells
        super().__init__(path, FORM, patience)

    def _prepare(self) -> None:
        super()._prepare()
        with self.writing() as link:
            bound = link.execute("SELECT digest, cells FROM frame").fetchone()
            if bound is None:
                link.execute("INSERT INTO frame VALUES (?, ?)", (self._digest, self._cells))
            elif bound[0] != self._digest:
                raise MemAuditError(
                    f"{self.path}: holds labels of another frame ({bound[1]} cells, digest "
                    f"{bound[0][:12]}; this one has {self._cells}, {self._digest[:12]}); give "
                    "another --labels"
                )
        ((verdict,),) = self.rows("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise MemAuditError(
                f"{self.path}: is damaged ({' '.join(verdict.split())}); go on from a copy, or "
                "save what is left with .recover of sqlite3"
            )

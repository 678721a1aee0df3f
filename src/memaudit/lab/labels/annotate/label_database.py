"""Decisions of annotators in one SQLite file. Rows are never changed. The last one counts."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import Label
from memaudit.lab.labels.frame import LabelSet
from memaudit.models.database import Database, Schema

_LABELS = "'full', 'partial', 'none', 'cannot_tell'"
_TABLES = f"""
CREATE TABLE IF NOT EXISTS frame (digest TEXT PRIMARY KEY, cells INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS decisions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, cell_id TEXT NOT NULL, annotator TEXT NOT NULL,
  label TEXT CHECK (label IN ({_LABELS})), note TEXT NOT NULL, at TEXT NOT NULL,
  undoes INTEGER UNIQUE REFERENCES decisions (id)
);
CREATE INDEX IF NOT EXISTS decisions_by_cell ON decisions (annotator, cell_id, id);
CREATE TABLE IF NOT EXISTS kept (
  decision INTEGER NOT NULL REFERENCES decisions (id), part TEXT NOT NULL,
  PRIMARY KEY (decision, part)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS drafts (
  annotator TEXT NOT NULL, cell_id TEXT NOT NULL, note TEXT NOT NULL,
  PRIMARY KEY (annotator, cell_id)
) WITHOUT ROWID;
"""
FORM = Schema(0x4D454D4C, 1, _TABLES, name="labels", option="--labels")
"""Marked "MEML"."""

PATIENCE = 20.0


_STANDING = """SELECT cell_id, label, note, at, max(id) FROM decisions
WHERE annotator = ? GROUP BY cell_id ORDER BY max(id)"""
"""SQLite takes the other columns from the row that holds the maximum."""

_KEPT = """SELECT decision, part FROM kept JOIN decisions ON decisions.id = decision
WHERE annotator = ?"""

_LAST_NOT_UNDONE = """SELECT id, cell_id, note FROM decisions AS decision
WHERE annotator = ? AND undoes IS NULL
AND NOT EXISTS (SELECT 1 FROM decisions WHERE undoes = decision.id)
ORDER BY id DESC LIMIT 1"""


@dataclass(frozen=True, slots=True)
class Decision:
    """The state of a cell: a label, or None if it was undone; the note; the time; kept parts."""

    label: Label | None
    note: str
    at: str
    kept: frozenset[str] = frozenset()


def utc_now() -> str:
    """The time, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class LabelDatabase(Database):
    """Decisions and drafts of every annotator of one frame."""

    def __init__(
        self,
        path: Path,
        digest: str,
        cells: int,
        now: Callable[[], str] = utc_now,
        must_exist: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        if must_exist and not path.is_file():
            raise MemAuditError(f"{path}: no labels here yet; check the frame and --labels")
        self._digest, self._cells, self._now = digest, cells, now
        super().__init__(path, FORM, patience)

    def _prepare(self) -> None:
        super()._prepare()
        with self.writing() as link:
            bound = link.execute("SELECT digest, cells FROM frame").fetchone()
            if bound is None:
                link.execute("INSERT INTO frame VALUES (?, ?)", (self._digest, self._cells))
            elif bound[0] != self._digest:
                raise MemAuditError(
                    f"{self.path}: contains labels of another frame ({bound[1]} cells, digest "
                    f"{bound[0][:12]}; this one has {self._cells}, {self._digest[:12]}); give "
                    "another --labels"
                )
        ((verdict,),) = self.rows("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise MemAuditError(
                f"{self.path}: is damaged ({' '.join(verdict.split())}); continue from a copy, or "
                "save what is left with .recover of sqlite3"
            )

    def decide(
        self, annotator: str, cell: str, label: Label, note: str, kept: Collection[str] = ()
    ) -> None:
        """Save a label, the kept parts and the note, and delete the draft of the note."""
        with self.writing() as link:
            decided = link.execute(
                "INSERT INTO decisions (cell_id, annotator, label, note, at)"
                " VALUES (?, ?, ?, ?, ?)",
                (cell, annotator, label, note, self._now()),
            )
            link.executemany(
                "INSERT INTO kept VALUES (?, ?)", [(decided.lastrowid, part) for part in kept]
            )
            link.execute(
                "DELETE FROM drafts WHERE annotator = ? AND cell_id = ?", (annotator, cell)
            )

    def undo(self, annotator: str) -> str | None:
        """Undo the annotator's last decision that is not undone yet. Returns its cell, if any.

        The state before it is written as a new row, the note of a removed label as a draft.
        """
        with self.writing() as link:
            last = link.execute(_LAST_NOT_UNDONE, (annotator,)).fetchone()
            if last is None:
                return None
            id, cell, note = last
            *before, last_before = link.execute(
                "SELECT label, note, id FROM decisions WHERE annotator = ? AND cell_id = ?"
                " AND id < ? ORDER BY id DESC LIMIT 1",
                (annotator, cell, id),
            ).fetchone() or (None, "", None)
            undone = link.execute(
                "INSERT INTO decisions (cell_id, annotator, label, note, at, undoes)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (cell, annotator, *before, self._now(), id),
            )
            link.execute(
                "INSERT INTO kept SELECT ?, part FROM kept WHERE decision = ?",
                (undone.lastrowid, last_before),
            )
            if before[0] is None and note:
                link.execute(
                    "INSERT OR IGNORE INTO drafts VALUES (?, ?, ?)", (annotator, cell, note)
                )
            return str(cell)

    def draft(self, annotator: str, cell: str, note: str) -> None:
        """Save a note that does not belong to a decision yet."""
        with self.writing() as link:
            link.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?)", (annotator, cell, note))

    def standing(self, annotator: str) -> dict[str, Decision]:
        """The state of every cell the annotator ever decided, the last decided at the end."""
        parts: dict[int, set[str]] = {}
        for decision, part in self.rows(_KEPT, annotator):
            parts.setdefault(decision, set()).add(part)
        rows = self.rows(_STANDING, annotator)
        return {
            cell: Decision(label, note, at, frozenset(parts.get(id, ())))
            for cell, label, note, at, id in rows
        }

    def draft_note(self, annotator: str, cell: str) -> str | None:
        rows = self.rows(
            "SELECT note FROM drafts WHERE annotator = ? AND cell_id = ?", annotator, cell
        )
        return rows[0][0] if rows else None

    def annotators(self) -> Mapping[str, int]:
        """Everybody who made a decision, and how many cells they have labelled."""
        names = self.rows("SELECT DISTINCT annotator FROM decisions ORDER BY annotator")
        return {name: len(self.label_set(name).labels) for (name,) in names}

    def label_set(self, annotator: str, with_parts: Collection[str] = ()) -> LabelSet:
        """The current labels with their notes, and the kept parts of these cells."""
        labels: dict[str, Label] = {}
        notes: dict[str, str] = {}
        kept: dict[str, frozenset[str]] = {}
        for cell, decision in self.standing(annotator).items():
            if decision.label:
                labels[cell] = decision.label
                if decision.note:
                    notes[cell] = decision.note
                if cell in with_parts:
                    kept[cell] = decision.kept
        return LabelSet(annotator, labels, notes, kept)

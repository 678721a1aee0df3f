"""Decisions of annotators: one row each, never changed; the last one of a cell holds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memaudit.label_audit.cells import Label, LabelSet
from memaudit.web.annotate.database import PATIENCE, LabelDatabase

_STANDING = """SELECT cell_id, label, note, at, max(id) FROM decisions
WHERE annotator = ? GROUP BY cell_id ORDER BY max(id)"""
"""SQLite takes the other columns from the row that holds the maximum."""

_LAST_KEPT = """SELECT id, cell_id, note FROM decisions AS one
WHERE annotator = ? AND undoes IS NULL
AND NOT EXISTS (SELECT 1 FROM decisions WHERE undoes = one.id)
ORDER BY id DESC LIMIT 1"""


@dataclass(frozen=True, slots=True)
class Decision:
    """What stands for a cell: a label, or None where it was taken back; the note; and when."""

    label: Label | None
    note: str
    at: str


def utc_now() -> str:
    """The time, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Decisions:
    """The decisions of every annotator of one frame."""

    def __init__(
        self,
        path: Path,
        digest: str,
        cells: int,
        now: Callable[[], str] = utc_now,
        must_exist: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        self._database = LabelDatabase(path, digest, cells, must_exist, patience)
        self._now = now

    def decide(self, annotator: str, cell: str, label: Label, note: str) -> None:
        """Keep a label and its note; the draft of the note is done with."""
        with self._database.writing() as link:
            link.execute(
                "INSERT INTO decisions (cell_id, annotator, label, note, at)"
                " VALUES (?, ?, ?, ?, ?)",
                (cell, annotator, label, note, self._now()),
            )
            link.execute(
                "DELETE FROM drafts WHERE annotator = ? AND cell_id = ?", (annotator, cell)
            )

    def undo(self, annotator: str) -> str | None:
        """Take back the annotator's last decision not yet taken back; its cell, if there is one.

        The state before it is written as a new row; the note of a label that is gone, as a draft.
        """
        with self._database.writing() as link:
            last = link.execute(_LAST_KEPT, (annotator,)).fetchone()
            if last is None:
                return None
            id, cell, note = last
            before = link.execute(
                "SELECT label, note FROM decisions WHERE annotator = ? AND cell_id = ? AND id < ?"
                " ORDER BY id DESC LIMIT 1",
                (annotator, cell, id),
            ).fetchone() or (None, "")
            link.execute(
                "INSERT INTO decisions (cell_id, annotator, label, note, at, undoes)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (cell, annotator, *before, self._now(), id),
            )
            if before[0] is None and note:
                link.execute(
                    "INSERT OR IGNORE INTO drafts VALUES (?, ?, ?)", (annotator, cell, note)
                )
            return str(cell)

    def draft(self, annotator: str, cell: str, note: str) -> None:
        """Keep a note that belongs to no decision yet."""
        with self._database.writing() as link:
            link.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?)", (annotator, cell, note))

    def standing(self, annotator: str) -> dict[str, Decision]:
        """What stands for every cell the annotator ever decided, the last decided at the end."""
        rows = self._database.rows(_STANDING, annotator)
        return {cell: Decision(label, note, at) for cell, label, note, at, _ in rows}

    def draft_note(self, annotator: str, cell: str) -> str | None:
        """The note being written on a cell."""
        rows = self._database.rows(
            "SELECT note FROM drafts WHERE annotator = ? AND cell_id = ?", annotator, cell
        )
        return rows[0][0] if rows else None

    def annotators(self) -> Mapping[str, int]:
        """Everybody who decided something, and how many cells they have labelled."""
        names = self._database.rows("SELECT DISTINCT annotator FROM decisions ORDER BY annotator")
        return {name: len(self.label_set(name).labels) for (name,) in names}

    def label_set(self, annotator: str) -> LabelSet:
        """The labels that stand, with their notes."""
        kept = {cell: one for cell, one in self.standing(annotator).items() if one.label}
        return LabelSet(
            annotator,
            {cell: one.label for cell, one in kept.items() if one.label},
            {cell: one.note for cell, one in kept.items() if one.note},
        )

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

"""One annotator labelling one frame: the cell shown, progress, and decisions in SQLite.

Rows of decisions are never changed; the last one of a cell counts.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypedDict

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import Label
from memaudit.kernel.words.text import Terms, terms
from memaudit.lab.labels.frame import FrameCell, LabelSet
from memaudit.models.database import Database, Schema
from memaudit.show.page_numbers import visible_text

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
        # Labels are hours of work: better to hear of damage now than at the export.
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
            # Rows are never changed: an undo writes what held before as a new row.
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


Mark = Literal["", "shared", "quoted", "escape"]
Piece = tuple[str, Mark]
"""A part of a text and how to show it; the pieces in order are the complete text."""

_WORD = re.compile(r"[^\W_]+(?:[.,:'\u2019][^\W_]+)*")


def compared(memory: str, unit: str, quote: str) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """The three texts in pieces: `shared` is in memory and unit, `quoted` in memory and quote."""
    words = terms(memory)
    shared = words & terms(unit)
    quoted = (words & terms(quote)) - shared
    memory_pieces, unit_pieces, quote_pieces = (
        list(_pieces(text, shared, quoted)) for text in (memory, unit, quote)
    )
    return memory_pieces, unit_pieces, quote_pieces


def _pieces(text: str, shared: Terms, quoted: Terms) -> Iterator[Piece]:
    text = text.replace("\r\n", "\n")
    end = 0
    for word in _WORD.finditer(text):
        own = terms(word[0])
        mark: Mark = "shared" if own & shared else "quoted" if own & quoted else ""
        if mark:
            yield from _escaped(text[end : word.start()])
            yield word[0], mark
            end = word.end()
    yield from _escaped(text[end:])


def _escaped(text: str) -> Iterator[Piece]:
    """Plain text; invisible characters are written out and marked as escapes."""
    plain = ""
    for character in text:
        # A bidirectional or invisible character could show another text than the one that is
        # labelled.
        shown = visible_text(character)
        if shown == character:
            plain += character
            continue
        if plain:
            yield plain, ""
            plain = ""
        yield shown, "escape"
    if plain:
        yield plain, ""


LONGEST_NAME = 100
DATABASE = "labels.sqlite"


class RefusedRequest(MemAuditError):
    """An invalid request of the page."""


class ShownPart(TypedDict):
    """A part of a statement, the core first, and whether this annotator found it kept."""

    name: str
    words: str
    kept: bool


class ShownCell(TypedDict):
    """What the page receives of a cell: texts and this annotator's label, no id and no key."""

    position: int
    memory: list[Piece]
    unit: list[Piece]
    quote: list[Piece]
    label: Label | None
    note: str
    is_draft: bool
    parts: list[ShownPart]


class Progress(TypedDict):
    """How many cells the annotator has labelled."""

    done: int
    total: int


class PageState(TypedDict):
    """The content of every response to the page. No cell if none is left."""

    progress: Progress
    cell: ShownCell | None


def frame_digest(cells: Sequence[FrameCell]) -> str:
    """The SHA-256 of the cells in their order, independent of the file they were read from."""
    data = [asdict(cell) for cell in cells]
    for cell in data:
        if not cell["parts"]:  # frames without parts have the digest they always had
            del cell["parts"]
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def ids_with_parts(cells: Sequence[FrameCell]) -> frozenset[str]:
    """The cells of statements with parts."""
    return frozenset(cell.id for cell in cells if cell.parts)


def checked_name(annotator: str) -> str:
    """An annotator's name that fits a line of a label file."""
    name = annotator.strip()
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise MemAuditError(
            f"an annotator's name is 1 to {LONGEST_NAME} printable characters; got {annotator!r}"
        )
    return name


class LabellingSession:
    """Cells by position, starting at 1; their ids are not passed on."""

    def __init__(self, cells: Sequence[FrameCell], database: LabelDatabase, annotator: str) -> None:
        self._cells = cells
        self._places = {cell.id: place for place, cell in enumerate(cells, 1)}
        self._database = database
        self.annotator = annotator

    def at(self, position: int) -> PageState:
        """The cell at a position, or the nearest one."""
        return self._view(self._standing(), min(max(position, 1), len(self._cells)))

    def unlabelled(self, after: int) -> PageState:
        """The next cell without a label, wrapping around at the end; None if all have one."""
        standing = self._standing()
        return self._view(standing, self._next_unlabelled(standing, after))

    def resume(self) -> PageState:
        """The next cell without a label after the one decided last."""
        standing = self._standing()
        # Where the annotator stopped, not the first gap: skipped cells were skipped on purpose.
        after = self._places[next(reversed(standing))] if standing else 0
        return self._view(standing, self._next_unlabelled(standing, after) or len(self._cells))

    def decide(
        self, position: int, label: Label, note: str, kept: Sequence[str] | None = None
    ) -> PageState:
        """Save a label, and the parts it keeps; then go to the next cell without one."""
        cell = self._cell(position)
        if not cell.parts and kept:
            raise RefusedRequest("this unit has no parts")
        parts: frozenset[str] = frozenset()
        if cell.parts:
            try:
                parts = cell.kept_by(label, kept)
            except ValueError as error:
                raise RefusedRequest(f"the label {error}") from None
        self._database.decide(self.annotator, cell.id, label, note, parts)
        return self.unlabelled(position)

    def undo(self) -> PageState:
        """Undo the last decision, and go to its cell if there was one."""
        cell = self._database.undo(self.annotator)
        return self._view(self._standing(), None if cell is None else self._places[cell])

    def note(self, position: int, note: str, finished: bool) -> PageState:
        """Save a note: with the current label once it is finished, otherwise as a draft."""
        cell = self._cell(position).id
        current = self._standing().get(cell)
        if finished and current is not None and current.label is not None:
            self._database.decide(self.annotator, cell, current.label, note, current.kept)
        else:
            self._database.draft(self.annotator, cell, note)
        return self.at(position)

    def labels(self) -> LabelSet:
        """The current labels with their notes."""
        return self._database.label_set(self.annotator, ids_with_parts(self._cells))

    def _standing(self) -> dict[str, Decision]:
        return self._database.standing(self.annotator)

    def _cell(self, position: int) -> FrameCell:
        if not 1 <= position <= len(self._cells):
            raise RefusedRequest(f"there is no cell {position}: the frame has {len(self._cells)}")
        return self._cells[position - 1]

    def _next_unlabelled(self, standing: dict[str, Decision], after: int) -> int | None:
        open_places = [
            place
            for id, place in self._places.items()
            if id not in standing or standing[id].label is None
        ]
        later = [place for place in open_places if place > after]
        return next(iter(later or open_places), None)

    def _view(self, standing: dict[str, Decision], position: int | None) -> PageState:
        done = sum(decision.label is not None for decision in standing.values())
        return {
            "progress": {"done": done, "total": len(self._cells)},
            "cell": None if position is None else self._shown(standing, position),
        }

    def _shown(self, standing: dict[str, Decision], position: int) -> ShownCell:
        cell = self._cell(position)
        memory, unit, quote = compared(cell.candidate_text, cell.unit_text, cell.quote)
        decision = standing.get(cell.id)
        draft = self._database.draft_note(self.annotator, cell.id)
        return {
            "position": position,
            "memory": memory,
            "unit": unit,
            "quote": quote,
            "label": decision.label if decision else None,
            "note": draft if draft is not None else decision.note if decision else "",
            "is_draft": draft is not None,
            "parts": [
                {
                    "name": visible_text(name),
                    "words": visible_text(words),
                    "kept": decision is not None and name in decision.kept,
                }
                for name, words in cell.parts
            ],
        }

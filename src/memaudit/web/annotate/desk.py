"""One annotator before one frame: the cell shown, what was said about it, and how far it is."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TypedDict

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.cells import FrameCell, Label, LabelSet
from memaudit.web.annotate.decisions import Decision, Decisions
from memaudit.web.annotate.highlight import Piece, compared
from memaudit.web.annotate.pace import cells_per_minute

LONGEST_NAME = 100
DATABASE = "labels.sqlite"


class Refused(MemAuditError):
    """A request of the page that makes no sense."""


class ShownCell(TypedDict):
    """All that a page learns of a cell: texts and what this annotator said, no id and no key."""

    position: int
    memory: list[Piece]
    unit: list[Piece]
    quote: list[Piece]
    label: Label | None
    note: str
    is_draft: bool


class Progress(TypedDict):
    """How far the annotator is; the pace in cells a minute, None while unknown."""

    done: int
    total: int
    pace: float | None


class View(TypedDict):
    """What every answer to the page holds; no cell where there is none to go to."""

    progress: Progress
    cell: ShownCell | None


def frame_digest(cells: Sequence[FrameCell]) -> str:
    """The SHA-256 of the cells in their order, whatever file they were read from."""
    text = json.dumps([asdict(cell) for cell in cells], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def checked_name(annotator: str) -> str:
    """An annotator's name that fits a line of a label file."""
    name = annotator.strip()
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise MemAuditError(
            f"an annotator's name is 1 to {LONGEST_NAME} printable letters; got {annotator!r}"
        )
    return name


class Desk:
    """Cells by position, 1 for the first; their ids stay inside."""

    def __init__(self, cells: Sequence[FrameCell], decisions: Decisions, annotator: str) -> None:
        self._cells = cells
        self._places = {cell.id: place for place, cell in enumerate(cells, 1)}
        self._decisions = decisions
        self.annotator = annotator

    def at(self, position: int) -> View:
        """The cell at a position, or the nearest one."""
        return self._view(self._standing(), min(max(position, 1), len(self._cells)))

    def unlabelled(self, after: int) -> View:
        """The next cell without a label, from the start again after the end; None if all have."""
        standing = self._standing()
        return self._view(standing, self._next_unlabelled(standing, after))

    def resume(self) -> View:
        """Where to go on: the next cell without a label after the one decided last."""
        standing = self._standing()
        after = self._places[next(reversed(standing))] if standing else 0
        return self._view(standing, self._next_unlabelled(standing, after) or len(self._cells))

    def decide(self, position: int, label: Label, note: str) -> View:
        """Keep a label; the next cell without one."""
        self._decisions.decide(self.annotator, self._cell(position).id, label, note)
        return self.unlabelled(position)

    def undo(self) -> View:
        """Take the last decision back; its cell, if there was one."""
        cell = self._decisions.undo(self.annotator)
        return self._view(self._standing(), None if cell is None else self._places[cell])

    def note(self, position: int, note: str, finished: bool) -> View:
        """Keep a note: with the label that stands once it is finished, else as a draft."""
        cell = self._cell(position).id
        stands = self._standing().get(cell)
        if finished and stands is not None and stands.label is not None:
            self._decisions.decide(self.annotator, cell, stands.label, note)
        else:
            self._decisions.draft(self.annotator, cell, note)
        return self.at(position)

    def labels(self) -> LabelSet:
        """The labels that stand, with their notes."""
        return self._decisions.label_set(self.annotator)

    def _standing(self) -> dict[str, Decision]:
        return self._decisions.standing(self.annotator)

    def _cell(self, position: int) -> FrameCell:
        if not 1 <= position <= len(self._cells):
            raise Refused(f"there is no cell {position}: the frame has {len(self._cells)}")
        return self._cells[position - 1]

    def _next_unlabelled(self, standing: dict[str, Decision], after: int) -> int | None:
        open_places = [
            place
            for id, place in self._places.items()
            if id not in standing or standing[id].label is None
        ]
        later = [place for place in open_places if place > after]
        return next(iter(later or open_places), None)

    def _view(self, standing: dict[str, Decision], position: int | None) -> View:
        times = [decision.at for decision in standing.values() if decision.label]
        pace = cells_per_minute(times)
        return {
            "progress": {"done": len(times), "total": len(self._cells), "pace": pace},
            "cell": None if position is None else self._shown(standing, position),
        }

    def _shown(self, standing: dict[str, Decision], position: int) -> ShownCell:
        cell = self._cell(position)
        memory, unit, quote = compared(cell.candidate_text, cell.unit_text, cell.quote)
        said = standing.get(cell.id)
        draft = self._decisions.draft_note(self.annotator, cell.id)
        return {
            "position": position,
            "memory": memory,
            "unit": unit,
            "quote": quote,
            "label": said.label if said else None,
            "note": draft if draft is not None else said.note if said else "",
            "is_draft": draft is not None,
        }

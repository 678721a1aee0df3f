"""What in a label file does not fit its conversation: counted and named, never hidden."""

from dataclasses import dataclass, field

from memaudit.natural.labels.rows import LabelRow

DONE = {
    "quote not found": "kept; the quote is not used",
    "no turns": "kept; only labels can cover it",
    "unknown turn": "left out of the row",
    "unknown session": "left out of the row",
    "unknown question": "left out of the row",
    "memory without a place": "left out",
    "unknown memory": "left out",
    "unknown unit": "left out",
    "repeated cell": "the first is kept",
    "unknown conversation": "not used",
}
"""Every kind of misfit, and what is done about it."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """One of them, with its place."""

    file: str
    line: int
    id: str
    what: str
    found: str
    done: str


@dataclass(slots=True)
class Misfits:
    """Collects them, and counts the quotes that were found."""

    found: list[Misfit] = field(default_factory=list)
    quotes: int = 0
    quotes_found: int = 0

    def add(self, row: LabelRow, id: str, what: str, found: object = "") -> None:
        """Note one; `what` is a key of DONE."""
        self.found.append(Misfit(row.file, row.line, id, what, str(found)[:80], DONE[what]))

"""Warnings in a store's file that a score acts on, and reasons for skipped rows that lose nothing.

A store's file holds its warnings as text. A text that a program acts on begins with an opening of
a StoreWarning. The openings are part of the file format. What follows the colon is for people and
may be reworded freely.
"""

from collections.abc import Iterable
from enum import Enum, StrEnum


class ExportWarning(Enum):
    """What a warning of an import or a capture means.

    The first opening is the one that is written. Add a new wording in front of it and leave the
    others in place: stores on disk carry the texts of earlier versions.
    """

    TRUNCATED = ("truncated",)
    MAYBE_TRUNCATED = ("maybe truncated",)
    INCOMPLETE = ("incomplete",)
    CORE_MEMORY_ONLY = ("core memory only",)
    ARCHIVAL_ONLY = ("archival passages only",)
    SEARCH_RESULTS = ("a union of search results",)
    SEARCH_SCORES = ("rows carry a search score",)
    PARTLY_READ = ("partly read",)
    ORDER_UNKNOWN = ("order of writing unknown",)

    def text(self, detail: str) -> str:
        """The warning as it is written to a store."""
        return f"{self.value[0]}: {detail}"


MISSING_MEMORIES = frozenset(ExportWarning) - {
    ExportWarning.PARTLY_READ,
    ExportWarning.ORDER_UNKNOWN,
}
"""The system holds, or may hold, memories that the export does not."""


def export_warning(text: str) -> ExportWarning | None:
    """What a warning of this or an earlier version means; None where no program acts on it."""
    return next((known for known in ExportWarning if text.startswith(known.value)), None)


def missing_memories(warnings: Iterable[str]) -> tuple[str, ...]:
    """The warnings which say that memories are missing."""
    return tuple(text for text in warnings if export_warning(text) in MISSING_MEMORIES)


class HarmlessSkip(StrEnum):
    """Reasons for a skipped row that leave nothing unread; they are keys of `count.skipped`."""

    EMPTY_TEXT = "empty text"
    OTHER_NAMESPACE = "other namespace"
    REPEATED_ROW = "repeated row"

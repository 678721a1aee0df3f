"""Warnings of a store's file mean the same in this version and in earlier ones."""

import pytest

from memaudit.adapters.store import (
    MISSING_MEMORIES,
    ExportWarning,
    export_warning,
    missing_memories,
)

WRITTEN_BEFORE = {
    "truncated: holds 20 of 30 rows; export every page": ExportWarning.TRUNCATED,
    "maybe truncated: exactly 20 rows, the default limit": ExportWarning.MAYBE_TRUNCATED,
    "incomplete: 2 packages are not in this store: p, q": ExportWarning.INCOMPLETE,
    "core memory only: an agent file holds no archival passages": ExportWarning.CORE_MEMORY_ONLY,
    "archival passages only: core memory is in the agent file": ExportWarning.ARCHIVAL_ONLY,
    "a union of search results, not a dump: 9 retrieved rows hold 3": ExportWarning.SEARCH_RESULTS,
    "rows carry a search score: a search result holds only what it found": (
        ExportWarning.SEARCH_SCORES
    ),
    "partly read: 1 of 5 rows were skipped": ExportWarning.PARTLY_READ,
    "order of writing unknown: 2 of 3 memories have no creation time": ExportWarning.ORDER_UNKNOWN,
}
"""Texts in stores on disk. They are never removed from here."""


@pytest.mark.parametrize("text", WRITTEN_BEFORE)
def test_texts_of_earlier_versions(text: str) -> None:
    """A reworded warning still clears no caveat of a store on disk."""
    assert export_warning(text) is WRITTEN_BEFORE[text]


def test_what_is_written_is_recognised() -> None:
    """Whatever the detail says; and every member has a text of an earlier version above."""
    assert [export_warning(member.text("anything")) for member in ExportWarning] == list(
        ExportWarning
    )
    assert set(WRITTEN_BEFORE.values()) == set(ExportWarning)
    assert export_warning("the store is empty") is None


def test_missing_memories() -> None:
    """All but the order of writing and rows that are counted anyway."""
    texts = [member.text("x") for member in ExportWarning]
    assert len(missing_memories([*texts, "expiry dates"])) == len(MISSING_MEMORIES)
    partly = ExportWarning.PARTLY_READ.text("x")
    assert missing_memories([partly, ExportWarning.ORDER_UNKNOWN.text("y")]) == ()

"""The memories of an exported store as rows: which columns it needs, and which rows hold words."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memaudit.adapters.store import ExportedStore, Memory


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory with its place in the order of writing."""

    place: int
    memory: Memory

    @property
    def when(self) -> str:
        """When it was written and changed, as far as the system says."""
        memory = self.memory
        parts = [memory.created_at or ""]
        if memory.updated_at and memory.updated_at != memory.created_at:
            parts.append(f"changed {memory.updated_at}")
        if memory.valid_from or memory.valid_to:
            parts.append(f"valid {memory.valid_from or '…'} to {memory.valid_to or '…'}")
        return "; ".join(filter(None, parts))

    @property
    def more(self) -> str:
        """Everything else that the system said about it."""
        memory = self.memory
        said: dict[str, object] = {}
        if memory.sources:
            said["sources"] = memory.sources
        if memory.salience is not None:
            said["salience"] = memory.salience
        said |= memory.metadata
        return json.dumps(said, ensure_ascii=False) if said else ""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns have anything in them."""

    when: bool
    namespace: bool
    example: bool
    more: bool


def memory_rows(store: ExportedStore) -> list[MemoryRow]:
    """All memories, in the order of writing."""
    return [MemoryRow(place, memory) for place, memory in enumerate(store.memories, start=1)]


def columns_of(rows: Sequence[MemoryRow]) -> Columns:
    """The columns that these rows need."""
    return Columns(
        any(row.when for row in rows),
        any(row.memory.namespace for row in rows),
        any(row.memory.example for row in rows),
        any(row.more for row in rows),
    )


def holding(rows: Sequence[MemoryRow], words: str) -> list[MemoryRow]:
    """The rows that hold all the words, in whatever column."""
    wanted = [word.lower() for word in words.split()]
    return [row for row in rows if all(word in _letters(row) for word in wanted)]


def _letters(row: MemoryRow) -> str:
    memory = row.memory
    parts = (memory.id, memory.text, memory.state, row.when, memory.namespace or "",
             memory.example or "", row.more)  # fmt: skip
    return "\n".join(parts).lower()


def states_of(store: ExportedStore) -> dict[str, int]:
    """How many memories are active, deleted, ..."""
    return dict(sorted(Counter(memory.state for memory in store.memories).items()))


def examples_in(store: ExportedStore) -> dict[str, int]:
    """The packages that memories were written for, and how many."""
    return dict(sorted(Counter(one.example for one in store.memories if one.example).items()))

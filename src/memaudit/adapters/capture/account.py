"""What each message changed in the store: order of writing, updates, and what was deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memaudit.adapters.shape import Memory


@dataclass(slots=True)
class Entry:
    """One memory's life: the experiences that wrote or changed it, and whether it is gone."""

    after: list[str]
    """Not its sources: the system may have drawn on anything it read before."""
    export: dict[str, Any] = field(default_factory=dict)
    deleted_after: str | None = None


@dataclass(slots=True)
class Account:
    """Every memory the store ever held, in the order they were first seen."""

    entries: dict[str, Entry] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def note(self, experience: str, changes: Sequence[Mapping[str, Any]]) -> None:
        """Take down the changes one message made."""
        for change in changes:
            kind = change["change"]
            self.counts[kind] = self.counts.get(kind, 0) + 1
            entry = self.entries.setdefault(change["id"], Entry([]))
            if kind == "delete":
                entry.deleted_after = experience
                continue
            entry.after.append(experience)
            entry.export, entry.deleted_after = change["export"], None

    def exports(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The rows to import: the store as read at the end, then the last state of what is gone."""
        there = {row["id"] for row in rows}
        gone = [entry.export for id, entry in self.entries.items() if id not in there]
        return [row["export"] for row in rows] + gone

    def settle(self, memories: Sequence[Memory], example: str) -> list[Memory]:
        """The imported memories in order of writing, with their lives."""
        rank = {id: place for place, id in enumerate(self.entries)}
        ordered = sorted(memories, key=lambda memory: rank.get(self._row(memory.id), len(rank)))
        return [self._settled(memory, example) for memory in ordered]

    def _row(self, id: str) -> str:
        """The row a memory came from: a view may take it apart into `row:1`, `row:2`, ..."""
        return id if id in self.entries else id.rpartition(":")[0]

    def _settled(self, memory: Memory, example: str) -> Memory:
        entry = self.entries.get(self._row(memory.id))
        known = {"written_after": list(entry.after)} if entry else {}
        gone = {"deleted_after": entry.deleted_after} if entry and entry.deleted_after else {}
        update: dict[str, object] = {
            "example": example,
            "metadata": {**memory.metadata, **known, **gone},
        }
        if gone:
            update["state"] = "deleted"
        return memory.model_copy(update=update)

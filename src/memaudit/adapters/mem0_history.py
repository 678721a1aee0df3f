"""Mem0's history database: every version of every memory, replayed from its events."""

from collections.abc import Iterator
from dataclasses import dataclass

from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import (
    ExportFields,
    ExportRow,
    ImportOptions,
    SkipRow,
    has_table,
    rows_of_table,
)
from memaudit.adapters.source import ExportFile, ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime, State

TABLE = "history"
REQUIRED = ("memory_id", "old_memory", "new_memory", "event")
OPTIONAL = ("created_at", "updated_at", "is_deleted", "actor_id", "role")
EVENTS = ("ADD", "UPDATE", "DELETE")


@dataclass(slots=True)
class _Version:
    """A text of a memory, and what became of it."""

    place: str
    memory: str
    text: object
    written: object = None
    ended: object = None
    """When it was updated or deleted."""
    state: State = "active"
    event: str = ""
    number: int = 0
    """Of the versions of its memory; 0 is the last one."""
    actor: object = None
    role: object = None
    note: str = ""


class Mem0History:
    """SQLite `history(memory_id, old_memory, new_memory, event, ...)`."""

    name = "mem0-history"
    label = "Mem0, history database (SQLite)"
    views: tuple[str, ...] = ("memory",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        marked = [has_table(part, TABLE, REQUIRED) for part in source.parts]
        return 3 if marked and all(marked) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every version, in the order of its event; the last one has the memory's id."""
        ledger = ImportLedger(source, options)
        for part in source.parts:
            versions = _replay(ledger, part)
            ledger.take(map(_row, versions), _draft)
        ledger.warn(
            "replayed from the history of changes: memories of all users, which it does not name"
        )
        return ledger.store("Mem0", self.name, self.views[0], in_order=True)


def _replay(ledger: ImportLedger, part: ExportFile) -> list[_Version]:
    """The versions that the events leave behind; an event that cannot be applied is skipped."""
    versions: list[_Version] = []
    last: dict[str, _Version] = {}
    for raw in rows_of_table(part, TABLE, REQUIRED, OPTIONAL):
        row = raw.value if isinstance(raw.value, dict) else {}
        memory, event = row.get("memory_id"), row.get("event")
        if raw.problem:
            ledger.skip(raw.place, raw.problem)
        elif not isinstance(memory, str) or not memory.strip():
            ledger.skip(raw.place, "no memory_id")
        elif event not in EVENTS:
            ledger.skip(raw.place, f"unknown event: {event!r:.40}")
        else:
            for version in _applied(ledger, raw.place, memory, event, row, last.get(memory)):
                versions.append(version)
                last[memory] = version
    _number(versions)
    return versions


def _applied(
    ledger: ImportLedger,
    place: str,
    memory: str,
    event: str,
    row: dict[str, object],
    before: _Version | None,
) -> Iterator[_Version]:
    """Apply an event: end the version before it, and give the version that it writes."""
    old, new = row.get("old_memory"), row.get("new_memory")
    when = row.get("updated_at") or row.get("created_at")
    actor, role = row.get("actor_id"), row.get("role")
    living = before if before is not None and before.state == "active" else None
    if event != "ADD" and living is None:
        if event == "DELETE" and old is None:
            ledger.skip(place, "deletes a memory that is not there")
            return
        if old is not None:  # written before the history begins
            living = _Version(
                place,
                memory,
                old,
                row.get("created_at"),
                actor=actor,
                role=role,
                note="written before the history begins, taken from old_memory",
            )
            yield living
    elif event != "ADD" and living is not None and old not in (None, living.text):
        ledger.note(
            "old_memory is not the text before: a change is missing from the history", place
        )
    if living is not None:
        living.state = "deleted" if event == "DELETE" else "superseded"
        living.ended, living.event = when, event
        if event == "ADD":
            ledger.note("added again under the id of an active memory, read as an update", place)
    if event != "DELETE":
        written = when if event == "UPDATE" else row.get("created_at") or row.get("updated_at")
        version = _Version(place, memory, new, written, actor=actor, role=role)
        if row.get("is_deleted") == 1:
            version.state, version.ended, version.event = "deleted", when, event
        yield version


def _number(versions: list[_Version]) -> None:
    """Number all versions but the last of each memory, from 1."""
    count: dict[str, int] = {}
    for version in versions:
        count[version.memory] = count.get(version.memory, 0) + 1
        version.number = count[version.memory]
    for version in versions:
        if version.number == count[version.memory]:
            version.number = 0


def _row(version: _Version) -> ExportRow:
    id = f"{version.memory}@{version.number}" if version.number else version.memory
    metadata = {"memory_id": version.memory, "actor_id": version.actor, "role": version.role}
    if version.event:
        metadata["ended_by"] = version.event
    return ExportRow(
        version.place,
        {
            "id": id,
            "text": version.text,
            "created_at": version.written,
            "updated_at": version.ended,
            "state": version.state,
            "note": version.note,
            **metadata,
        },
    )


def _draft(row: ExportFields) -> MemoryDraft:
    if row.data["text"] is None:
        raise SkipRow("no new_memory")
    text = row.text("text")
    if note := row.label("note"):
        row.note(note)
    state = row.data["state"]
    return MemoryDraft(
        text=text,
        id=row.label("id"),
        state=state if state in ("deleted", "superseded") else "active",
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        metadata=row.others("id", "text", "created_at", "updated_at", "state", "note"),
    )

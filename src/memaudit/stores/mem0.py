"""Mem0: its `get_all`, the search results of its evaluation, and its history database."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportWarning, State
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import (
    ExportFields,
    ExportRow,
    SkipRow,
    has_table,
    mostly_have,
    no_list,
    rows_of,
    rows_of_table,
    value_at,
)
from memaudit.stores.source import ExportFile, ExportSource

LISTS = ("results", "memories")
# A memory belongs to whom it was added for; most calls give a user only.
OWNERS = ("user_id", "agent_id", "run_id", "app_id")
# `get_all` stops there silently, so that a list of exactly so many rows may not be the store.
LIMITS = {20: "get_all (top_k)", 100: "get_all in older versions (limit)"}


class Mem0(StoreFormat):
    """Rows `{"id", "memory", "metadata", "created_at", ...}`, bare or under `results`."""

    name = "mem0"
    label = "Mem0, get_all"
    system = "Mem0"
    views = ("memory",)

    def recognises(self, source: ExportSource) -> int:
        """By `memory` beside fields that only Mem0 writes, or an empty `results` list."""
        if mostly_have(
            source, LISTS, ("memory",), ("hash", "user_id", "agent_id", "run_id", "score")
        ):
            return 3
        documents = [part.parsed.document for part in source.parts if part.kind == "json"]
        if documents and all(value_at(document, "results") == (True, []) for document in documents):
            return 2
        return 1 if mostly_have(source, LISTS, ("memory",), ("id",)) else 0

    def take(self, ledger: ImportLedger) -> None:
        """Every row; deleted and expired ones keep their state."""
        lists = [rows_of(part, LISTS, ("memory",)) for part in ledger.source.parts]
        for rows in lists:
            ledger.take(rows, _draft)
        if any(
            isinstance(row.value, dict) and "score" in row.value for rows in lists for row in rows
        ):
            ledger.warn(
                "a search result holds only what it found, get_all holds the store",
                ExportWarning.SEARCH_SCORES,
            )
        relations = sum(_relations(part.parsed.document) for part in ledger.source.parts)
        if relations:
            ledger.warn(
                f"graph relations beside memories are not read: {relations}",
                ExportWarning.INCOMPLETE,
            )
        last = ledger.source.parts[-1].parsed.document
        if not ledger.check_total(value_at(last, "count")[1], ledger.read):
            for rows in lists:  # get_all has no pages: each file is a call of its own
                ledger.check_limit(len(rows), LIMITS)
        if value_at(last, "next")[1]:
            ledger.warn("the export names a next page; export every page", ExportWarning.TRUNCATED)


def _relations(document: object) -> int:
    """The number of graph relations beside the rows, which older versions export."""
    relations = value_at(document, "relations")[1]
    return len(relations) if isinstance(relations, list) else 0


def _draft(row: ExportFields) -> MemoryDraft:
    text = row.text("memory")
    # The platform keeps deleted rows, and marks them in one way or the other.
    deleted = row.flag("is_deleted") or row.data.get("event") == "DELETE"
    owner = next((label for name in OWNERS if (label := row.label(name))), None)
    return MemoryDraft(
        text=text,
        id=row.label("id"),
        state="deleted" if deleted else "active",
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        expires=row.time("expiration_date"),
        namespace=owner,
        metadata={
            **row.others("id", "memory", "created_at", "updated_at", "metadata"),
            **row.inner("metadata").others(),
        },
    )


# The evaluation keeps a memory of each speaker, and searches both for every question.
SEARCH_LISTS = ("speaker_1_memories", "speaker_2_memories")
GRAPH_LISTS = ("speaker_1_graph_memories", "speaker_2_graph_memories")


class Mem0Search(StoreFormat):
    """`{"0": [{"question", "speaker_1_memories": [{"memory", "timestamp", "score"}], ...}]}`."""

    name = "mem0-search"
    label = "Mem0, search results of its LoCoMo evaluation"
    system = "Mem0"
    views = ("memory",)
    reader_time = "created_at"

    def recognises(self, source: ExportSource) -> int:
        questions = [
            _questions(part.parsed.document) for part in source.parts if part.kind == "json"
        ]
        marked = [any(SEARCH_LISTS[0] in row for _, row in rows) for rows in questions]
        return 3 if marked and all(marked) else 0

    def take(self, ledger: ImportLedger) -> None:
        """The distinct (conversation, speaker, text, time) rows, in order of time."""
        retrieved = 0
        seen: set[tuple[str, str, str]] = set()
        asked = [_questions(part.parsed.document) for part in ledger.source.parts]
        named = len({example for rows in asked for example, _ in rows}) > 1 or (
            ledger.options.conversation is not None
        )
        for part in ledger.source.parts:
            questions = _questions(part.parsed.document) if part.kind == "json" else []
            if not questions:
                raise MemAuditError(no_list(part, SEARCH_LISTS))
            for raw, example, speaker in _retrieved(part, questions):
                retrieved += ledger.options.conversation in (None, example)
                # The same memory is retrieved for many questions, each time with another score.
                value = raw.value
                key = (
                    str((value.get("memory"), value.get("timestamp")))
                    if isinstance(value, dict)
                    else raw.place
                )
                if (example, speaker, key) not in seen:
                    seen.add((example, speaker, key))
                    draft = partial(
                        _search_draft,
                        number=len(ledger.drafts) + 1,
                        speaker=speaker,
                        # With one conversation, the package that is scored decides the example.
                        example=example if named else None,
                    )
                    ledger.take_one(raw, draft)
        graph = sum(_graph_rows(question) for rows in asked for _, question in rows)
        if graph:
            ledger.warn(
                f"graph relations beside memories are not read: {graph}", ExportWarning.INCOMPLETE
            )
        distinct = sum(ledger.options.conversation in (None, example) for example, _, _ in seen)
        ledger.warn(
            f"this is not a dump; {retrieved} retrieved rows hold {distinct} distinct "
            "memories, and what was never retrieved is missing",
            ExportWarning.SEARCH_RESULTS,
        )


def _questions(document: object) -> list[tuple[str, dict[str, object]]]:
    if not isinstance(document, dict):
        return []
    return [
        (str(example), row)
        for example, rows in document.items()
        if isinstance(rows, list)
        for row in rows
        if isinstance(row, dict)
    ]


def _graph_rows(question: dict[str, object]) -> int:
    """The number of graph relations that were retrieved for a question, repeated ones included."""
    lists = [question.get(name) for name in GRAPH_LISTS]
    return sum(len(rows) for rows in lists if isinstance(rows, list))


def _retrieved(
    part: ExportFile, questions: list[tuple[str, dict[str, object]]]
) -> Iterator[tuple[ExportRow, str, str]]:
    for at, (example, question) in enumerate(questions):
        for name in SEARCH_LISTS:
            place = f"{part.name}: question {at} {name}"
            rows = question.get(name)
            if not isinstance(rows, list):
                yield ExportRow(place, problem=f"{name} is not a list"), example, name
                continue
            for number, row in enumerate(rows):
                yield ExportRow(f"{place}[{number}]", row), example, name.removesuffix("_memories")


def _search_draft(row: ExportFields, number: int, example: str | None, speaker: str) -> MemoryDraft:
    text = row.text("memory")
    return MemoryDraft(
        text=text,
        id=f"memory-{number}",
        created_at=row.time("timestamp"),
        namespace=speaker,
        example=example,
        metadata=row.others("memory", "score"),
    )


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


class Mem0History(StoreFormat):
    """SQLite `history(memory_id, old_memory, new_memory, event, ...)`."""

    name = "mem0-history"
    label = "Mem0, history database (SQLite)"
    system = "Mem0"
    views = ("memory",)
    in_order = True

    def recognises(self, source: ExportSource) -> int:
        marked = [has_table(part, TABLE, REQUIRED) for part in source.parts]
        return 3 if marked and all(marked) else 0

    def take(self, ledger: ImportLedger) -> None:
        """Every version, in the order of its event; the last one has the memory's id."""
        for part in ledger.source.parts:
            versions = _replay(ledger, part)
            ledger.take(map(_row, versions), _history_draft)
        ledger.warn(
            "replayed from the history of changes: memories of all users, which it does not name"
        )


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
    # A deleted memory may be added again under its id: that is a new text, not an update.
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


def _history_draft(row: ExportFields) -> MemoryDraft:
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

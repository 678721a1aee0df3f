"""Mem0: `get_all` of the library and the platform, and its LoCoMo search results."""

from collections.abc import Iterator
from functools import partial

from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import (
    ExportFields,
    ExportRow,
    ImportOptions,
    mostly_have,
    no_list,
    rows_of,
    value_at,
)
from memaudit.adapters.source import ExportFile, ExportSource
from memaudit.adapters.store import ExportedStore, ExportWarning, ReaderTime
from memaudit.core.errors import MemAuditError

LISTS = ("results", "memories")
OWNERS = ("user_id", "agent_id", "run_id", "app_id")
LIMITS = {20: "get_all (top_k)", 100: "get_all in older versions (limit)"}


class Mem0:
    """Rows `{"id", "memory", "metadata", "created_at", ...}`, bare or under `results`."""

    name = "mem0"
    label = "Mem0, get_all"
    views: tuple[str, ...] = ("memory",)
    reader_time: ReaderTime | None = None

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

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every row; deleted and expired ones keep their state."""
        ledger = ImportLedger(source, options)
        lists = [rows_of(part, LISTS, ("memory",)) for part in source.parts]
        for rows in lists:
            ledger.take(rows, _draft)
        if any(
            isinstance(row.value, dict) and "score" in row.value for rows in lists for row in rows
        ):
            ledger.warn(
                ExportWarning.SEARCH_SCORES.text(
                    "a search result holds only what it found, get_all holds the store"
                )
            )
        relations = sum(_relations(part.parsed.document) for part in source.parts)
        if relations:
            ledger.warn(
                ExportWarning.INCOMPLETE.text(
                    f"graph relations beside memories are not read: {relations}"
                )
            )
        last = source.parts[-1].parsed.document
        if not ledger.check_total(value_at(last, "count")[1], ledger.read):
            for rows in lists:  # get_all has no pages: each file is a call of its own
                ledger.check_limit(len(rows), LIMITS)
        if value_at(last, "next")[1]:
            ledger.warn(
                ExportWarning.TRUNCATED.text("the export names a next page; export every page")
            )
        return ledger.store("Mem0", self.name, self.views[0], in_order=False)


def _relations(document: object) -> int:
    """The number of graph relations beside the rows, which older versions export."""
    relations = value_at(document, "relations")[1]
    return len(relations) if isinstance(relations, list) else 0


def _draft(row: ExportFields) -> MemoryDraft:
    text = row.text("memory")
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


SEARCH_LISTS = ("speaker_1_memories", "speaker_2_memories")
GRAPH_LISTS = ("speaker_1_graph_memories", "speaker_2_graph_memories")


class Mem0Search:
    """`{"0": [{"question", "speaker_1_memories": [{"memory", "timestamp", "score"}], ...}]}`."""

    name = "mem0-search"
    label = "Mem0, search results of its LoCoMo evaluation"
    views: tuple[str, ...] = ("memory",)
    reader_time: ReaderTime | None = "created_at"

    def recognises(self, source: ExportSource) -> int:
        questions = [
            _questions(part.parsed.document) for part in source.parts if part.kind == "json"
        ]
        marked = [any(SEARCH_LISTS[0] in row for _, row in rows) for rows in questions]
        return 3 if marked and all(marked) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """The distinct (conversation, speaker, text, time) rows, in order of time."""
        ledger = ImportLedger(source, options)
        retrieved = 0
        seen: set[tuple[str, str, str]] = set()
        asked = [_questions(part.parsed.document) for part in source.parts]
        named = len({example for rows in asked for example, _ in rows}) > 1 or (
            options.conversation is not None
        )
        for part in source.parts:
            questions = _questions(part.parsed.document) if part.kind == "json" else []
            if not questions:
                raise MemAuditError(no_list(part, SEARCH_LISTS))
            for raw, example, speaker in _retrieved(part, questions):
                retrieved += options.conversation in (None, example)
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
                ExportWarning.INCOMPLETE.text(
                    f"graph relations beside memories are not read: {graph}"
                )
            )
        distinct = sum(options.conversation in (None, example) for example, _, _ in seen)
        ledger.warn(
            ExportWarning.SEARCH_RESULTS.text(
                f"this is not a dump; {retrieved} retrieved rows hold {distinct} distinct "
                "memories, and what was never retrieved is missing"
            )
        )
        return ledger.store("Mem0", self.name, self.views[0], in_order=False)


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

"""Files that were published as data: stores of the paper's layout, the notes of LoCoMo."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import JsonValue

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.foreign_json import encodable
from memaudit.kernel.io.store_file import ExportedStore, Memory, ReaderTime
from memaudit.kernel.io.strict_json import kind_of
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import (
    ExportFields,
    ExportRow,
    ImportOptions,
    api_error,
    mostly_have,
    rows_of,
)
from memaudit.stores.source import ExportSource, open_source


def memory_id(example: str, id: str) -> str:
    """The id of a memory in a store of many examples, which share memory ids."""
    return id if id.startswith(f"{example}::") else f"{example}::{id}"


class WrittenStores:
    """Lines `{"instance_id", "memories": [{"memory_id", "text", "memory_index"}]}`."""

    name = "written-stores"
    label = "the published layout, written_stores.jsonl"
    views: tuple[str, ...] = ("text",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        return 4 if mostly_have(source, (), ("instance_id",), ("memories",)) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """One store; `example` says which instance a memory was written for."""
        ledger = ImportLedger(source, options)
        sizes: Counter[str] = Counter()
        for part in source.parts:
            for raw in rows_of(part, (), ("instance_id",)):
                _read_example(ledger, raw, sizes)
        ledger.conversations |= set(sizes)
        if options.conversation is not None:
            sizes = Counter({options.conversation: sizes[options.conversation]})
        if empty := sorted(name for name, size in sizes.items() if not size):
            ledger.warn(
                f"{len(empty)} of {len(sizes)} examples wrote nothing: " + ", ".join(empty[:20])
            )
        store = ledger.store("published", self.name, self.views[0], in_order=True)
        counts = Counter(memory.example for memory in store.memories)
        # Examples that wrote nothing have no memory to tell of them, so the origin lists all.
        examples: dict[str, JsonValue] = {name: counts[name] for name in sorted(sizes)}
        origin = store.origin.model_copy(
            update={"configuration": {**store.origin.configuration, "examples": examples}}
        )
        return store.model_copy(update={"origin": origin})


def _read_example(ledger: ImportLedger, raw: ExportRow, sizes: Counter[str]) -> None:
    """Read the memories of one line; a line without a list is skipped, not an empty store."""
    value = raw.value if isinstance(raw.value, dict) else {}
    example, rows = value.get("instance_id"), value.get("memories")
    if raw.problem or not isinstance(raw.value, dict):
        return ledger.skip(raw.place, raw.problem or f"{kind_of(raw.value)}, not an object")
    if not isinstance(example, str) or not example.strip():
        return ledger.skip(raw.place, "no instance_id")
    example = encodable(example)
    # A failed run wrote nothing; counted as a store it would score 0.
    if problem := value.get("error"):
        return ledger.skip(raw.place, f"failed run: {example[:40]}, {encodable(str(problem))[:80]}")
    if not isinstance(rows, list):
        return ledger.skip(raw.place, f"memories is {kind_of(rows)}, not a list")
    # Which of two lines is the run cannot be known, and both together are neither.
    if example in sizes:
        return ledger.skip(raw.place, f"second line of an example: {example[:40]}")
    sizes[example] = 0
    before = len(ledger.drafts)
    for at, row in enumerate(rows):
        ledger.take_one(
            ExportRow(f"{raw.place} memories[{at}]", row), lambda row: _draft(row, example)
        )
    sizes[example] = len(ledger.drafts) - before
    return None


def _draft(row: ExportFields, example: str) -> MemoryDraft:
    text = row.text("text")
    id = row.label("memory_id")
    return MemoryDraft(
        text=text,
        id=memory_id(example, id) if id else None,
        example=example,
        created_at=row.time("timestamp"),
        metadata=row.others("text", "timestamp"),
    )


def split_examples(store: ExportedStore) -> dict[str, ExportedStore]:
    """One store per example, also for examples without memories."""
    known = store.origin.configuration.get("examples")
    names = list(known) if isinstance(known, dict) else []
    names += sorted({memory.example for memory in store.memories if memory.example} - set(names))
    memories: dict[str | None, list[Memory]] = {name: [] for name in names}
    for memory in store.memories:
        memories.setdefault(memory.example, []).append(memory)
    return {
        name: store.model_copy(
            update={"name": f"{store.name}/{name}", "memories": tuple(memories[name])}
        )
        for name in names
    }


JudgementT = TypeVar("JudgementT")


@dataclass(frozen=True, slots=True)
class CoverageCell:
    """How much of a unit one memory of an example's store covers."""

    example: str
    memory: str
    unit: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class SalienceScore:
    """How important one memory of an example's store was judged."""

    example: str
    memory: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class PublishedCallsFile(Generic[JudgementT]):
    """Judgements, and the judged examples; any other example was not judged, which is not zero."""

    rows: tuple[JudgementT, ...]
    examples: tuple[str, ...]
    skipped: dict[str, str]
    """Lines that could not be read, and why; their examples are not in `examples`."""


def read_coverage_calls(path: Path) -> PublishedCallsFile[CoverageCell]:
    """`coverage_scoring_calls.jsonl`; memory ids are those of the imported store."""
    return _read(path, "coverage_edges", _cells)


def read_salience_calls(path: Path) -> PublishedCallsFile[SalienceScore]:
    """`salience_scoring_calls.jsonl`; memory ids are those of the imported store."""
    return _read(path, "scores", _scores)


def _read(
    path: Path, key: str, parse: Callable[[str, object], tuple[JudgementT, ...]]
) -> PublishedCallsFile[JudgementT]:
    source = open_source([path])
    rows: list[JudgementT] = []
    examples: dict[str, None] = {}
    skipped: dict[str, str] = {}
    for raw in rows_of(source.parts[0], (), ("instance_id",)):
        try:
            if raw.problem or not isinstance(raw.value, dict):
                raise ValueError(raw.problem or f"{kind_of(raw.value)}, not an object")
            example = _name(raw.value, "instance_id")
            if problem := api_error(raw.value):
                raise ValueError(f"the call failed: {problem}")
            if example in examples:
                raise ValueError(f"second line of the example {example!r}")
            judgements = parse(example, raw.value.get(key))
        except ValueError as error:
            skipped[raw.place] = str(error)
            continue
        examples[example] = None
        rows += judgements
    if skipped and not examples:
        place, reason = next(iter(skipped.items()))
        raise MemAuditError(f"{place}: no line could be read: {reason}")
    return PublishedCallsFile(tuple(rows), tuple(examples), skipped)


def _cells(example: str, edges: object) -> tuple[CoverageCell, ...]:
    if not isinstance(edges, list):
        raise ValueError(f"coverage_edges is {kind_of(edges)}, a list was expected")
    cells: dict[tuple[str, str], CoverageCell] = {}
    for edge in edges:
        if not isinstance(edge, dict):
            raise ValueError(f"an edge is {kind_of(edge)}, an object was expected")
        memory, unit = memory_id(example, _name(edge, "memory_id")), _name(edge, "unit_id")
        if (memory, unit) in cells:
            raise ValueError(f"two edges from {memory!r} to {unit!r}")
        value = _number(edge.get("coverage"), "coverage")
        if not 0 <= value <= 1:
            raise ValueError("coverage is not between 0 and 1")
        cells[memory, unit] = CoverageCell(example, memory, unit, value)
    return tuple(cells.values())


def _scores(example: str, scores: object) -> tuple[SalienceScore, ...]:
    if not isinstance(scores, dict):
        raise ValueError(f"scores is {kind_of(scores)}, an object was expected")
    judgements = []
    for id, score in scores.items():
        value = score.get("salience") if isinstance(score, dict) else score
        memory = memory_id(example, encodable(id))
        judgements.append(SalienceScore(example, memory, _number(value, "salience")))
    return tuple(judgements)


def _name(row: dict[str, object], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"no {key}")
    return encodable(value)


def _number(value: object, what: str) -> Fraction:
    if value is None:
        raise ValueError(f"no {what}")
    if isinstance(value, list | dict):
        raise ValueError(f"{what} is {kind_of(value)}, a number was expected")
    return exact(value)


class LocomoNotes(StoreFormat):
    """`observation`, `event_summary` and `session_summary` of the dataset's conversations."""

    name = "locomo-notes"
    label = "LoCoMo, the notes that come with its conversations"
    system = "LoCoMo"
    in_order = True

    def recognises(self, source: ExportSource) -> int:
        marks = (("sample_id",), ("conversation",), ("observation", "session_summary"))
        return 3 if mostly_have(source, (), *marks) else 0

    def take(self, ledger: ImportLedger) -> None:
        """Every note, session by session; its conversation is its example and namespace."""
        for part in ledger.source.parts:
            for raw in rows_of(part, (), ("sample_id",)):
                ledger.take(_notes(raw), _notes_draft)


def _notes(raw: ExportRow) -> Iterator[ExportRow]:
    """The notes of a conversation as rows with text, place and kind."""
    if not isinstance(raw.value, dict):
        yield raw
        return
    example = raw.value.get("sample_id")
    notes = [
        *((key, "observation", value) for key, value in _items(raw.value.get("observation"))),
        *((key, "event", value) for key, value in _items(raw.value.get("event_summary"))),
        *((key, "summary", value) for key, value in _items(raw.value.get("session_summary"))),
    ]
    for key, kind, value in sorted(notes, key=lambda note: _session(note[0])):
        if kind == "summary":
            yield _row(raw, example, kind, key, value)
            continue
        for speaker, rows in _items(value):
            if speaker == "date":
                continue
            for at, row in enumerate(rows if isinstance(rows, list) else [rows]):
                text, turn = row if isinstance(row, list) and len(row) == 2 else (row, None)
                yield _row(raw, example, kind, f"{key}/{speaker}/{at}", text, turn)


def _items(value: object) -> list[tuple[str, object]]:
    return [(str(key), item) for key, item in value.items()] if isinstance(value, dict) else []


def _session(key: str) -> int:
    """The number in `session_3_observation`, `events_session_3` or `session_3_summary`."""
    digits = re.search(r"\d+", key)
    return int(digits[0][:9]) if digits else 0


def _row(
    raw: ExportRow, example: object, kind: str, place: str, text: object, turn: object = None
) -> ExportRow:
    fields = {"id": f"{example}/{place}", "example": example, "kind": kind, "text": text}
    return ExportRow(f"{raw.place} {kind} {place}", {**fields, "turns": _turns(turn)})


def _turns(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _notes_draft(row: ExportFields) -> MemoryDraft:
    text, example = row.text("text"), row.label("example")
    return MemoryDraft(
        text=text,
        id=row.label("id"),
        namespace=example,
        example=example,
        sources=row.names("turns"),
        metadata=row.others("id", "text", "example", "turns"),
    )

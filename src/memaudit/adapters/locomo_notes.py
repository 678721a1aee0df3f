"""LoCoMo's own notes as a store: observations, events and summaries, for every conversation."""

import re
from collections.abc import Iterator

from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ExportFields, ExportRow, ImportOptions, mostly_have, rows_of
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime


class LocomoNotes:
    """`observation`, `event_summary` and `session_summary` of the dataset's conversations."""

    name = "locomo-notes"
    label = "LoCoMo, the notes that come with its conversations"
    views: tuple[str, ...] = ("text",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        marks = (("sample_id",), ("conversation",), ("observation", "session_summary"))
        return 3 if mostly_have(source, (), *marks) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every note, session by session; its conversation is its example and namespace."""
        ledger = ImportLedger(source, options)
        for part in source.parts:
            for raw in rows_of(part, (), ("sample_id",)):
                ledger.take(_notes(raw), _draft)
        return ledger.store("LoCoMo", self.name, self.views[0], in_order=True)


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


def _draft(row: ExportFields) -> MemoryDraft:
    text, example = row.text("text"), row.label("example")
    return MemoryDraft(
        text=text,
        id=row.label("id"),
        namespace=example,
        example=example,
        sources=row.names("turns"),
        metadata=row.others("id", "text", "example", "turns"),
    )

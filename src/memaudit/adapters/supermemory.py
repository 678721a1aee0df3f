"""supermemory: extracted memories with their versions; documents are not memories."""

from memaudit.adapters.fields import ExportFields
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ExportRow, ImportOptions, mostly_have, rows_of, value_at
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime, State

LISTS = ("memoryEntries", "memories", "results")
LIMITS = {10: "its list call"}


class Supermemory:
    """Rows `{"id", "memory", "isLatest", "isForgotten", "version", "history"}`."""

    name = "supermemory"
    label = "supermemory, memory entries"
    views: tuple[str, ...] = ("memory",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        marks = ("isLatest", "isForgotten")
        if mostly_have(source, LISTS, ("memory",), marks):
            return 4  # above Mem0, whose rows have `memory` as well
        documents = [part.parsed.document for part in source.parts if part.kind == "json"]
        return 3 if any(value_at(document, "memoryEntries")[0] for document in documents) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every entry and the earlier versions listed under it."""
        ledger = ImportLedger(source, options)
        pages = [rows_of(part, LISTS, ("memory",)) for part in source.parts]
        for rows in pages:
            ledger.take(rows, _draft)
            for raw in rows:
                ledger.take(_history(raw), lambda row: _draft(row, earlier=True))
        total = value_at(source.parts[-1].parsed.document, "pagination.totalItems")[1]
        if not ledger.check_total(total, sum(map(len, pages))):  # earlier versions are not counted
            ledger.check_limit(len(pages[-1]), LIMITS)
        return ledger.store("supermemory", self.name, self.views[0], in_order=False)


def _history(raw: ExportRow) -> list[ExportRow]:
    earlier = raw.value.get("history") if isinstance(raw.value, dict) else None
    if not isinstance(earlier, list):
        return []
    return [ExportRow(f"{raw.place}.history[{at}]", row) for at, row in enumerate(earlier)]


def _draft(row: ExportFields, earlier: bool = False) -> MemoryDraft:
    text = row.text("memory")
    latest = row.flag("isLatest") if "isLatest" in row.data else not earlier
    state: State = "deleted" if row.flag("isForgotten") else "active" if latest else "superseded"
    system = row.inner("system") if "system" in row.data else row
    tags = row.names("containerTags")
    return MemoryDraft(
        text=text,
        id=row.label("id"),
        state=state,
        created_at=system.time("createdAt"),
        updated_at=system.time("updatedAt"),
        expires=row.time("forgetAfter"),
        namespace=row.label("containerTag") or row.label("spaceId") or next(iter(tags), None),
        sources=row.names("documentIds"),
        metadata=row.others("id", "memory", "createdAt", "updatedAt", "documentIds", "history"),
    )

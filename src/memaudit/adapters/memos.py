"""MemOS: the textual memory of a cube, or its get_all."""

from memaudit.adapters.fields import ExportFields, SkipRow
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ImportOptions, rows_of, samples, value_at
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime, State

LISTS = ("nodes", "text_mem.nodes", "memories", "text_mem", "data.text_mem", "data")
STATES: dict[str, State] = {
    "activated": "active",
    "resolving": "active",
    "archived": "superseded",
    "deleted": "deleted",
}
"""`resolving` is being compared with newer memories and still found by searches."""


class MemOS:
    """Items `{"id", "memory", "metadata": {"status", "version", "history", ...}}`."""

    name = "memos"
    label = "MemOS, textual memory"
    views: tuple[str, ...] = ("memory",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        marks = {"status", "memory_type", "is_fast", "visibility", "confidence", "history"}
        marked = [
            "memory" in row
            and isinstance(metadata := row.get("metadata"), dict)
            and bool(marks & metadata.keys())
            and not {"user_id", "hash"} & row.keys()
            for row in samples(source, LISTS)
        ]
        return 3 if marked and sum(marked) * 2 > len(marked) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every item; archived and deleted ones keep their state."""
        ledger = ImportLedger(source, options)
        for part in source.parts:
            ledger.take(rows_of(part, LISTS, ("memory",)), _draft)
            if value_at(part.parsed.document, "edges")[1]:
                ledger.warn("a tree: its nodes are read, its edges are not")
        return ledger.store("MemOS", self.name, self.views[0], in_order=False)


def _draft(row: ExportFields) -> MemoryDraft:
    text = row.text("memory")
    inner = row.inner("metadata")
    status = inner.data.get("status")
    if status is not None and (not isinstance(status, str) or status not in STATES):
        raise SkipRow("unknown status")
    return MemoryDraft(
        text=text,
        id=row.label("id"),
        state=STATES[str(status)] if status else "active",
        created_at=inner.time("created_at"),
        updated_at=inner.time("updated_at"),
        namespace=inner.label("user_id"),
        metadata=inner.others("created_at", "updated_at", "embedding", "status"),
    )

"""Hindsight: the memory units of a bank, as listed or exported."""

from memaudit.adapters.fields import ExportFields
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ImportOptions, mostly_have, rows_of, value_at
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime, State

LISTS = ("items", "memories", "memory_units", "results")


class Hindsight:
    """Rows `{"id", "text", "fact_type", "mentioned_at", "occurred_start", "state", ...}`."""

    name = "hindsight"
    label = "Hindsight, memory units"
    views: tuple[str, ...] = ("text",)
    reader_time: ReaderTime | None = "valid_from"

    def recognises(self, source: ExportSource) -> int:
        marks = ("fact_type", "mentioned_at", "occurred_start", "invalidated_at")
        return 3 if mostly_have(source, LISTS, ("text",), marks) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every unit; invalidated ones count as superseded."""
        ledger = ImportLedger(source, options)
        count = 0
        for part in source.parts:
            count = ledger.take(rows_of(part, LISTS, ("text",)), _draft)
        total = value_at(source.parts[-1].parsed.document, "total")[1]
        if not ledger.check_total(total, ledger.read):
            ledger.check_limit(count)
        return ledger.store("Hindsight", self.name, self.views[0], in_order=False)


def _draft(row: ExportFields) -> MemoryDraft:
    text = row.text("text")
    status = (row.label("state") or "active").lower()
    state: State = "active"
    if status in ("deleted", "forgotten"):
        state = "deleted"
    elif status == "expired":
        state = "expired"
    elif row.data.get("invalidated_at") is not None or status in ("invalidated", "superseded"):
        state = "superseded"
    elif status not in ("active", "valid", "current"):
        row.note(f"unknown state {status[:20]!r}, counted as active")
    kind = row.label("fact_type") or row.label("type")
    return MemoryDraft(
        text=text,
        id=row.label("id"),
        state=state,
        namespace=row.label("bank_id"),
        created_at=row.time("created_at") or row.time("mentioned_at") or row.time("date"),
        updated_at=row.time("updated_at"),
        valid_from=row.time("occurred_start"),
        valid_to=row.time("occurred_end") or row.time("invalidated_at"),
        sources=row.names("source_memory_ids"),
        metadata={
            **({"fact_type": kind} if kind else {}),
            **row.others("id", "text", "created_at", "updated_at", "source_memory_ids"),
        },
    )

"""Hindsight: the memory units of a bank, as listed or exported."""

from memaudit.adapters.fields import ExportFields
from memaudit.adapters.ledger import ImportLedger, MemoryDraft, check_limit, check_total
from memaudit.adapters.protocol import ImportOptions, listed_rows, most_rows_have, value_at
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, State

LISTS = ("items", "memories", "memory_units", "results")


class Hindsight:
    """Rows `{"id", "text", "fact_type", "mentioned_at", "occurred_start", "state", ...}`."""

    name = "hindsight"
    label = "Hindsight, memory units"
    views: tuple[str, ...] = ("text",)

    def recognises(self, source: ExportSource) -> int:
        """By a text beside its fact type or the times only it writes."""
        marks = ("fact_type", "mentioned_at", "occurred_start", "invalidated_at")
        return 3 if most_rows_have(source, LISTS, ("text",), marks) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every unit; invalidated ones count as superseded."""
        ledger = ImportLedger(source, options)
        count = 0
        for part in source.parts:
            count = ledger.take(listed_rows(part, LISTS, ("text",)), _draft)
        total = value_at(source.parts[-1].parsed.document, "total")[1]
        if not check_total(ledger, total, ledger.read):
            check_limit(ledger, count)
        return ledger.store("Hindsight", self.name, self.views[0], in_order=False)


def _draft(row: ExportFields) -> MemoryDraft:
    text = row.text("text")
    said = (row.label("state") or "active").lower()
    state: State = "active"
    if said in ("deleted", "forgotten"):
        state = "deleted"
    elif said == "expired":
        state = "expired"
    elif row.data.get("invalidated_at") is not None or said in ("invalidated", "superseded"):
        state = "superseded"
    elif said not in ("active", "valid", "current"):
        row.ledger.note("state that is not known, counted as active", f"{row.place} {said[:20]!r}")
    kind = row.label("fact_type") or row.label("type")
    return MemoryDraft(
        text=text, id=row.label("id"), state=state, namespace=row.label("bank_id"),
        created_at=row.time("created_at") or row.time("mentioned_at") or row.time("date"),
        updated_at=row.time("updated_at"), valid_from=row.time("occurred_start"),
        valid_to=row.time("occurred_end") or row.time("invalidated_at"),
        sources=row.names("source_memory_ids"), metadata={
            **({"fact_type": kind} if kind else {}),
            **row.others("id", "text", "created_at", "updated_at", "source_memory_ids"),
        },
    )  # fmt: skip

"""Graphiti / Zep: the facts on entity edges, with the time each was true."""

from memaudit.adapters.fields import ExportFields
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ImportOptions, mostly_have, rows_of
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime, State

LISTS = ("edges", "facts")
LIMITS = {10: "graphiti.search"}


class Graphiti:
    """`fact`: the fact alone; `dated`: with its interval, so that an ended fact says it ended."""

    name = "graphiti"
    label = "Graphiti and Zep, entity edges"
    views: tuple[str, ...] = ("fact", "dated")
    reader_time: ReaderTime | None = "valid_from"

    def recognises(self, source: ExportSource) -> int:
        marks = ("uuid", "valid_at", "invalid_at", "expired_at", "group_id")
        return 3 if mostly_have(source, LISTS, ("fact",), marks) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every edge, by creation time: Graphiti lists edges by uuid."""
        ledger = ImportLedger(source, options)
        view = options.view or self.views[0]
        for part in source.parts:
            count = ledger.take(rows_of(part, LISTS, ("fact",)), lambda row: _draft(row, view))
            ledger.check_limit(count, LIMITS)
        if view == "dated":
            ledger.warn(
                "facts that ended count as active: the dated view writes their interval out"
            )
        return ledger.store("Graphiti", self.name, view, in_order=False)


def _draft(row: ExportFields, view: str) -> MemoryDraft:
    text = row.text("fact")
    start, end, expired = (row.time(name) for name in ("valid_at", "invalid_at", "expired_at"))
    state: State = "active"
    if view == "dated":
        text = f"{text} ({start or 'unknown'} to {end or 'present'})"
    elif row.data.get("expired_at") is not None:  # a later edge contradicts it, whatever the date
        state = "superseded"
    return MemoryDraft(
        text=text,
        id=row.label("uuid"),
        state=state,
        created_at=row.time("created_at"),
        valid_from=start,
        valid_to=end or expired,
        expires=None if view == "dated" else end,
        namespace=row.label("group_id"),
        sources=row.names("episodes"),
        metadata=row.others("uuid", "fact", "created_at", "valid_at", "invalid_at", "episodes"),
    )

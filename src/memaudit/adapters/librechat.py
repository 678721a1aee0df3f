"""LibreChat: a user's memories, as its interface returns them or as MongoDB exports them."""

from functools import partial

from memaudit.adapters.fields import ExportFields, SkipRow
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ImportOptions, mostly_have, rows_of
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime

LISTS = ("memories",)
WRAPPERS = ("$oid", "$date", "$numberLong", "$numberInt", "$numberDouble")
"""Under which MongoDB's Extended JSON writes the values that JSON has no type for."""


class LibreChat:
    """`value`: the value, as the chat model is shown it; `full`: the key and the value."""

    name = "librechat"
    label = "LibreChat, memories"
    views: tuple[str, ...] = ("value", "full")
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        marks = ("userId", "tokenCount"), ("updated_at", "tokenCount")
        return 3 if mostly_have(source, LISTS, ("key",), ("value",), *marks) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every memory; an update replaces its value, so that is when the text was written."""
        ledger = ImportLedger(source, options)
        view = options.view or self.views[0]
        for part in source.parts:
            ledger.take(rows_of(part, LISTS, ("value",)), partial(_draft, view=view))
        dated = all(made.updated_at for _, made in ledger.drafts)
        if dated:
            ledger.drafts.sort(key=lambda placed: placed[1].updated_at or "")
        return ledger.store("LibreChat", self.name, view, in_order=dated)


def _draft(row: ExportFields, view: str) -> MemoryDraft:
    row.data = {name: _plain(value) for name, value in row.data.items()}
    key, text = row.label("key"), row.text("value")
    if key is None:
        raise SkipRow("no key")
    user = row.label("userId")
    return MemoryDraft(
        text=row.checked(f"{key}: {text}", "value") if view == "full" else text,
        id=row.label("_id") or (f"{user}/{key}" if user else key),
        updated_at=row.time("updated_at"),
        namespace=user,
        metadata=row.others("_id", "value", "updated_at", "userId", "__v"),
    )


def _plain(value: object) -> object:
    """The value inside Extended JSON: `{"$date": {"$numberLong": "1741954200000"}}`."""
    while isinstance(value, dict) and len(value) == 1 and next(iter(value)) in WRAPPERS:
        value = next(iter(value.values()))
    return value

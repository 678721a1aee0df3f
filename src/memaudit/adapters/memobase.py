"""Memobase: the profile of a user and, where given, events."""

from memaudit.adapters.fields import ExportFields, SkipRow
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ImportOptions, mostly_have, rows_of
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime

LISTS = ("data.profiles", "profiles", "data.events", "events")
LIMITS = {10: "user.event"}


class Memobase:
    """`full`: `topic::sub_topic: content`, as it enters a prompt; `content`: the value alone."""

    name = "memobase"
    label = "Memobase, profiles and events"
    views: tuple[str, ...] = ("full", "content")
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        if mostly_have(source, LISTS, ("event_data", "gist_data")):
            return 3
        if mostly_have(source, LISTS, ("content",), ("topic",), ("sub_topic",)):
            return 3
        return 3 if mostly_have(source, LISTS, ("content",), ("attributes",)) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        ledger = ImportLedger(source, options)
        view = options.view or self.views[0]
        for part in source.parts:
            rows = rows_of(part, LISTS, ("content", "event_data", "gist_data"))
            count = ledger.take(rows, lambda row: _draft(row, view))
            if any(isinstance(raw.value, dict) and "event_data" in raw.value for raw in rows):
                ledger.check_limit(count, LIMITS)
        return ledger.store("Memobase", self.name, view, in_order=False)


def _draft(row: ExportFields, view: str) -> MemoryDraft:
    if "event_data" in row.data or "gist_data" in row.data:
        return _event(row)
    content = row.text("content")
    # The server nests them; the client library lifts them out.
    inner = row.inner("attributes") if "attributes" in row.data else row
    topic, sub_topic = inner.label("topic"), inner.label("sub_topic")
    path = "::".join(name for name in (topic, sub_topic) if name)
    return MemoryDraft(
        text=f"{path}: {content}" if path and view == "full" else content,
        id=row.label("id"),
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        namespace=topic,
        metadata={"part": "profile", **row.others("id", "content", "created_at", "updated_at")},
    )


def _event(row: ExportFields) -> MemoryDraft:
    """An event: its own sentence, or else what it says about the profile."""
    data = row.inner("event_data") if "event_data" in row.data else row.inner("gist_data")
    text: object = data.data.get("event_tip") or data.data.get("content")
    if not text:
        delta = data.data.get("profile_delta")
        rows = delta if isinstance(delta, list) else []
        contents = [row.get("content") for row in rows if isinstance(row, dict)]
        text = "\n".join(content for content in contents if isinstance(content, str)) or None
    if text is None:
        raise SkipRow("event without a text")
    return MemoryDraft(
        text=row.checked(text, "event"),
        id=row.label("id"),
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        namespace="events",
        metadata={"part": "event", **row.others("id", "created_at", "updated_at", "similarity")},
    )

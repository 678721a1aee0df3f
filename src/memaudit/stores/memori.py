"""Memori's SQLite file: facts about entities, the conversations that mention them, messages."""

from collections import defaultdict
from collections.abc import Iterator

from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import (
    ExportFields,
    ExportRow,
    has_table,
    rows_of_table,
)
from memaudit.stores.source import ExportFile, ExportSource

FACTS = "memori_entity_fact"
REQUIRED = ("id", "entity_id", "content")
OPTIONAL = ("uuid", "num_times", "date_last_time", "date_created")
MENTIONS = "memori_entity_fact_mention", ("fact_id", "conversation_id")
ENTITIES = "memori_entity", ("id", "external_id")


class Memori(StoreFormat):
    """Facts are the memories."""

    name = "memori"
    label = "Memori, SQLite"
    system = "Memori"
    views = ("content",)

    def recognises(self, source: ExportSource) -> int:
        marked = [has_table(part, FACTS, REQUIRED) for part in source.parts]
        return 3 if marked and all(marked) else 0

    def take(self, ledger: ImportLedger) -> None:
        for part in ledger.source.parts:
            ledger.take(_facts(ledger, part), _draft)


def _facts(ledger: ImportLedger, part: ExportFile) -> Iterator[ExportRow]:
    """The facts, each with the name of its entity and the conversations that mention it."""
    names = _pairs(part, *ENTITIES)
    mentioned: dict[object, list[object]] = defaultdict(list)
    if has_table(part, *MENTIONS):
        for raw in rows_of_table(part, *MENTIONS):
            if isinstance(raw.value, dict):
                mentioned[raw.value["fact_id"]].append(raw.value["conversation_id"])
    for raw in rows_of_table(part, FACTS, REQUIRED, OPTIONAL):
        if not isinstance(raw.value, dict):
            yield raw
            continue
        # Facts take their mentions out, so that what is left mentions nothing.
        sources = mentioned.pop(raw.value["id"], [])
        entity = raw.value["entity_id"]
        more = {"sources": sources, "entity": names.get(entity, entity)}
        yield ExportRow(raw.place, {**raw.value, **more})
    for fact in mentioned:
        ledger.note(
            "a conversation mentions a fact that is not there", f"{part.name}: fact {fact!r:.40}"
        )


def _pairs(part: ExportFile, table: str, columns: tuple[str, str]) -> dict[object, object]:
    """Two columns of a table, where there is one."""
    if not has_table(part, table, columns):
        return {}
    rows = [raw.value for raw in rows_of_table(part, table, columns)]
    return {row[columns[0]]: row[columns[1]] for row in rows if isinstance(row, dict)}


def _draft(row: ExportFields) -> MemoryDraft:
    return MemoryDraft(
        text=row.text("content"),
        id=row.label("uuid") or row.label("id"),
        created_at=row.time("date_created"),
        updated_at=row.time("date_last_time"),
        namespace=row.label("entity"),
        sources=row.names("sources"),
        metadata=row.others(
            "content", "uuid", "date_created", "date_last_time", "sources", "entity"
        ),
    )

"""Memori's SQLite file: facts about entities, the conversations that mention them, messages."""

from collections import defaultdict
from collections.abc import Iterator

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.foreign_json import encodable
from memaudit.kernel.io.timestamps import export_time
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import (
    ChatMessage,
    ExportFields,
    ExportRow,
    Transcript,
    has_table,
    rows_of_table,
)
from memaudit.stores.source import ExportFile, ExportSource

FACTS = "memori_entity_fact"
REQUIRED = ("id", "entity_id", "content")
OPTIONAL = ("uuid", "num_times", "date_last_time", "date_created")
MENTIONS = "memori_entity_fact_mention", ("fact_id", "conversation_id")
ENTITIES = "memori_entity", ("id", "external_id")
MESSAGES = "memori_conversation_message", ("conversation_id", "role", "content")
CONVERSATIONS = "memori_conversation", ("id", "session_id")
SESSIONS = "memori_session", ("id", "entity_id")


class Memori(StoreFormat):
    """Facts are the memories; the messages are its transcript."""

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

    def transcript(self, source: ExportSource, namespace: str | None, /) -> Transcript:
        """Every conversation is a session, under the id that memories name as their source."""
        transcript = Transcript()
        for part in source.parts:
            if not has_table(part, *MESSAGES):
                continue
            owners = _owners(part) if namespace is not None else {}
            spoken: dict[object, list[ChatMessage]] = defaultdict(list)
            for raw in rows_of_table(part, *MESSAGES, optional=("date_created",)):
                message = _message(raw)
                row = raw.value if isinstance(raw.value, dict) else {}
                if message is None:
                    transcript.left_out["without text"] += 1
                elif namespace is None or (owners.get(row["conversation_id"]) == namespace):
                    spoken[row["conversation_id"]].append(message)
                else:
                    transcript.left_out["of another namespace"] += 1
            for id, messages in spoken.items():
                transcript.add(encodable(str(id)), None, messages)
        return transcript


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


def _owners(part: ExportFile) -> dict[object, object]:
    """The entity that each conversation was held with."""
    names, sessions = _pairs(part, *ENTITIES), _pairs(part, *SESSIONS)
    conversations = _pairs(part, *CONVERSATIONS)
    if not sessions or not conversations:
        raise MemAuditError(
            f"{part.name}: does not say whose the conversations are; "
            "leave out the namespace to read them"
        )
    entities = {id: sessions.get(session) for id, session in conversations.items()}
    return {id: _label(names.get(entity, entity)) for id, entity in entities.items()}


def _label(value: object) -> str | None:
    """A name or id as memories carry it."""
    return None if value is None else encodable(str(value)).strip()


def _message(raw: ExportRow) -> ChatMessage | None:
    row = raw.value if isinstance(raw.value, dict) else {}
    role, text = row.get("role"), row.get("content")
    if not isinstance(role, str) or not role.strip():
        return None
    if not isinstance(text, str) or not text.strip():
        return None
    return ChatMessage(encodable(role), encodable(text), export_time(row.get("date_created")))


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

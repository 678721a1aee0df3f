"""OpenAI Agents sessions: a transcript, read as if every message were a memory."""

from collections.abc import Iterator

from memaudit.adapters.fields import ExportFields, SkipRow
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ExportRow, ImportOptions, mostly_have, rows_of
from memaudit.adapters.source import ExportFile, ExportSource
from memaudit.adapters.sqlite_tables import rows as table_rows
from memaudit.adapters.store import ExportedStore, ReaderTime
from memaudit.core.errors import MemAuditError
from memaudit.io.lenient_json import loads

LISTS = ("items",)
TABLE = "agent_messages"
COLUMNS = ("id", "session_id", "message_data", "created_at")


class OpenAIAgents:
    """Items of `get_items()`, or the table `agent_messages` of a SQLiteSession."""

    name = "openai-agents"
    label = "OpenAI Agents SDK, sessions"
    views: tuple[str, ...] = ("message",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        if any(set(COLUMNS) <= set(part.tables.get(TABLE, ())) for part in source.parts):
            return 3
        if mostly_have(source, LISTS, ("role",), ("content",)):
            return 2
        return (
            2
            if mostly_have(source, LISTS, ("type",), ("role", "call_id", "output", "summary"))
            else 0
        )

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every message with text; tool calls and reasoning are counted and left out."""
        ledger = ImportLedger(source, options)
        for part in source.parts:
            rows = _table(part) if part.kind == "sqlite" else rows_of(part, LISTS, ("role",))
            ledger.take(rows, _draft)
        ledger.warn("a transcript, not extracted memories: the SDK stores messages word for word")
        return ledger.store("OpenAI Agents SDK", self.name, self.views[0], in_order=True)


def _table(part: ExportFile) -> Iterator[ExportRow]:
    if not set(COLUMNS) <= set(part.tables.get(TABLE, ())):
        names = ", ".join(sorted(part.tables)[:5]) or "no table"
        raise MemAuditError(f"{part.name}: has no table {TABLE} of a session; found {names}")
    for at, row in enumerate(table_rows(part.path, part.name, TABLE, COLUMNS, '"id"'), start=1):
        place = f"{part.name}: {TABLE} row {at}"
        try:
            data = row["message_data"]
            item = loads(data.decode("utf-8") if isinstance(data, bytes) else str(data))
        except UnicodeDecodeError as error:
            yield ExportRow(place, problem=f"not UTF-8: at byte {error.start} of the message")
            continue
        except ValueError as error:
            yield ExportRow(place, problem=f"message is {error}")
            continue
        if isinstance(item, dict):
            session = row["session_id"]
            name = session.decode("utf-8", "replace") if isinstance(session, bytes) else session
            item = {**item, "_row": row["id"], "_session": name, "_time": row["created_at"]}
        yield ExportRow(place, item)


def _draft(row: ExportFields) -> MemoryDraft:
    kind = row.label("type") or "message"
    if kind != "message":
        raise SkipRow(f"not a message: {kind[:40]}")
    number = row.label("_row")
    return MemoryDraft(
        text=_words(row),
        id=f"message-{number}" if number else row.label("id"),
        created_at=row.time("_time"),
        namespace=row.label("_session"),
        metadata={"role": row.label("role")},
    )


def _words(row: ExportFields) -> str:
    """The text of a message: its content, or the pieces of it that are text."""
    content = row.data.get("content")
    if not isinstance(content, list):
        return row.text("content")
    words = []
    for piece in content:
        text = piece.get("text") if isinstance(piece, dict) else piece
        if isinstance(text, str):
            words.append(text)
        else:
            row.note("part of a message is not text, left out")
    return row.checked("\n".join(words), "content")

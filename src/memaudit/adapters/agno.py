"""Agno: user memories, as `to_dict` gives them or in the SQLite table they are kept in."""

from collections.abc import Iterator

from memaudit.adapters.fields import ExportFields
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ExportRow, ImportOptions, mostly_have, rows_of, rows_of_table
from memaudit.adapters.source import ExportFile, ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime
from memaudit.core.errors import MemAuditError
from memaudit.io.lenient_json import loads

KEY = ("memory_id", "memory", "user_id")
COLUMNS = (*KEY, "input", "topics", "agent_id", "team_id", "feedback", "created_at", "updated_at")


class Agno:
    """Rows `{"memory_id", "memory", "topics", "input", "user_id", "created_at", ...}`."""

    name = "agno"
    label = "Agno, user memories"
    views: tuple[str, ...] = ("memory",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        if source.parts and all(_tables(part) for part in source.parts):
            return 3
        marks = ("user_id", "topics", "input", "agent_id", "team_id")
        # Above Mem0, whose rows have `memory` beside `id`.
        return 4 if mostly_have(source, (), ("memory_id",), ("memory",), marks) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every memory, of all tables of memories that a database holds."""
        ledger = ImportLedger(source, options)
        for part in source.parts:
            rows = _table_rows(part) if part.kind == "sqlite" else rows_of(part, own=("memory",))
            ledger.take(rows, _draft)
        return ledger.store("Agno", self.name, self.views[0], in_order=False)


def _tables(part: ExportFile) -> list[str]:
    return [table for table, columns in part.tables.items() if set(KEY) <= set(columns)]


def _table_rows(part: ExportFile) -> Iterator[ExportRow]:
    """The columns `memory` and `topics` hold JSON, also where it is only a text in quotes."""
    if not (tables := _tables(part)):
        names = ", ".join(sorted(part.tables)[:5]) or "no table"
        raise MemAuditError(f"{part.name}: has no table with {', '.join(KEY)}; found {names}")
    for table in tables:
        for raw in rows_of_table(part, table, (), COLUMNS, order=""):
            row = raw.value
            if isinstance(row, dict):
                row |= {name: _parsed(row.get(name)) for name in ("memory", "topics")}
            yield raw


def _parsed(value: object) -> object:
    """The value of a JSON text; a text that is not JSON stands for itself."""
    if not isinstance(value, str):
        return value
    try:
        return loads(value)
    except ValueError:
        return value


def _draft(row: ExportFields) -> MemoryDraft:
    return MemoryDraft(
        text=_text(row),
        id=row.label("memory_id"),
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        namespace=row.label("user_id"),
        metadata=row.others("memory_id", "memory", "user_id", "created_at", "updated_at"),
    )


def _text(row: ExportFields) -> str:
    """Earlier versions nest: `{"memory": "..."}`, as an object or as its JSON text."""
    value = row.data.get("memory")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        inner = _parsed(value)
        value = inner if isinstance(inner, dict) and "memory" in inner else value
    if isinstance(value, dict) and "memory" in value:
        value = value["memory"]
    return row.checked(value, "memory")

"""Open WebUI: a user's memories, as its interface lists them or in the database `webui.db`."""

from memaudit.adapters.fields import ExportFields
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ImportOptions, rows_of, rows_of_table, samples
from memaudit.adapters.source import ExportFile, ExportSource
from memaudit.adapters.store import ExportedStore, ReaderTime
from memaudit.core.errors import MemAuditError

TABLE = "memory"
COLUMNS = ("id", "user_id", "content", "updated_at", "created_at")
NEWER = ("type", "path", "meta")
"""Columns that newer versions add."""


class OpenWebUI:
    """Rows `{"id", "user_id", "content", "updated_at", "created_at"}`, times in seconds."""

    name = "open-webui"
    label = "Open WebUI, memories"
    views: tuple[str, ...] = ("content",)
    reader_time: ReaderTime | None = "created_at"

    def recognises(self, source: ExportSource) -> int:
        """By its table, or by its five fields: times in seconds tell them from similar rows."""
        if source.parts and all(_is_table(part) for part in source.parts):
            return 3
        marked = [
            set(COLUMNS) <= row.keys()
            and "role" not in row
            and all(_is_seconds(row[name]) for name in ("created_at", "updated_at"))
            for row in samples(source)
        ]
        return 2 if sum(marked) * 2 > len(marked) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        ledger = ImportLedger(source, options)
        for part in source.parts:
            if part.kind != "sqlite":
                ledger.take(rows_of(part, own=("content",)), _draft)
                continue
            if not _is_table(part):
                names = ", ".join(sorted(part.tables)[:5]) or "no table"
                raise MemAuditError(
                    f"{part.name}: has no table {TABLE}({', '.join(COLUMNS)}); found {names}"
                )
            ledger.take(rows_of_table(part, TABLE, (), (*COLUMNS, *NEWER), order=""), _draft)
        return ledger.store("Open WebUI", self.name, self.views[0], in_order=False)


def _is_table(part: ExportFile) -> bool:
    return set(COLUMNS) <= set(part.tables.get(TABLE, ()))


def _is_seconds(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _draft(row: ExportFields) -> MemoryDraft:
    return MemoryDraft(
        text=row.text("content"),
        id=row.label("id"),
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        namespace=row.label("user_id"),
        metadata=row.others(*COLUMNS),
    )

"""Vertex AI Memory Bank: the memories of an agent engine, as its REST interface lists them."""

from memaudit.adapters.fields import ExportFields
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ImportOptions, mostly_have, rows_of, value_at
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, ExportWarning, ReaderTime
from memaudit.io.lenient_json import encodable

LISTS = ("memories",)


class VertexMemory:
    """Rows `{"name", "scope": {}, "fact", "createTime", "updateTime"}`, bare or in `memories`."""

    name = "vertex-memory"
    label = "Vertex AI Memory Bank, memories"
    views: tuple[str, ...] = ("fact",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        return 3 if mostly_have(source, LISTS, ("fact",), ("scope",), ("name", "createTime")) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every memory; a page that names the next one is not the end."""
        ledger = ImportLedger(source, options)
        pages = [rows_of(part, LISTS, ("fact",)) for part in source.parts]
        for rows in pages:
            ledger.take(rows, _draft)
        last = source.parts[-1].parsed.document
        if value_at(last, "nextPageToken")[1]:
            ledger.warn(
                ExportWarning.TRUNCATED.text("the export names a next page; export every page")
            )
        elif not isinstance(last, dict):  # without its page, a list does not say whether it ends
            ledger.check_limit(len(pages[-1]))
        return ledger.store("Vertex AI Memory Bank", self.name, self.views[0], in_order=False)


def _draft(row: ExportFields) -> MemoryDraft:
    text = row.text("fact")
    return MemoryDraft(
        text=text,
        id=row.label("name"),
        created_at=row.time("createTime"),
        updated_at=row.time("updateTime"),
        expires=row.time("expireTime"),
        namespace=_scope(row),
        metadata=row.others("name", "fact", "createTime", "updateTime", "expireTime"),
    )


def _scope(row: ExportFields) -> str | None:
    """`app_name=diary, user_id=ann`: a memory belongs to all names of its scope together."""
    scope = row.object("scope")
    pairs = [f"{name}={value}" for name, value in sorted(scope.items()) if isinstance(value, str)]
    if len(pairs) < len(scope):
        row.note("part of scope is not text, left out")
    return encodable(", ".join(pairs)).strip() or None

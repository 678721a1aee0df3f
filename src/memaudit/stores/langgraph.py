"""LangGraph's store and LangMem: items as JSON, or the SQLite table they are kept in."""

import json
from collections.abc import Iterator

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.foreign_json import loads
from memaudit.kernel.io.store_file import HarmlessSkip, plain_json
from memaudit.stores.containers import rows as table_rows
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import (
    ExportFields,
    ExportRow,
    SkipRow,
    mostly_have,
    rows_of,
)
from memaudit.stores.source import ExportFile, ExportSource

LISTS = ("items",)
LIMITS = {10: "store.search"}
COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at")
JAVASCRIPT = ("createdAt", "updatedAt")


class LangGraph(StoreFormat):
    """`content`: the text of a value, if it has one; `value`: always the complete value."""

    name = "langgraph"
    label = "LangGraph store and LangMem, items or SQLite"
    system = "LangGraph"
    views = ("content", "value")
    reader_time = "created_at"

    def recognises(self, source: ExportSource) -> int:
        if any(_is_table(part) for part in source.parts):
            return 3
        return 3 if mostly_have(source, LISTS, ("namespace",), ("key",), ("value",)) else 0

    def take(self, ledger: ImportLedger) -> None:
        """Every item; `namespace/key` is its id, since keys repeat across namespaces."""
        view = ledger.view
        for part in ledger.source.parts:
            if part.kind == "sqlite":
                ledger.take(_table(part), lambda row: _draft(row, view))
            else:
                count = ledger.take(rows_of(part, LISTS, ("value",)), lambda row: _draft(row, view))
                ledger.check_limit(count, LIMITS)


def _is_table(part: ExportFile) -> bool:
    return {"prefix", "key", "value"} <= set(part.tables.get("store", ()))


def _table(part: ExportFile) -> Iterator[ExportRow]:
    if not _is_table(part):
        names = ", ".join(sorted(part.tables)[:5]) or "no table"
        raise MemAuditError(f"{part.name}: has no table store(prefix, key, value); found {names}")
    columns = tuple(name for name in COLUMNS if name in part.tables["store"])
    for at, row in enumerate(table_rows(part.path, part.name, "store", columns, "rowid"), start=1):
        place = f"{part.name}: store row {at}"
        try:
            item: dict[str, object] = {
                name: value.decode("utf-8") if isinstance(value, bytes) else value
                for name, value in row.items()
            }
            item["value"] = loads(str(item["value"])) if item["value"] is not None else None
        except UnicodeDecodeError as error:
            yield ExportRow(place, problem=f"not UTF-8: at byte {error.start} of a value")
            continue
        except ValueError as error:
            yield ExportRow(place, problem=f"value is {error}")
            continue
        item["namespace"] = str(item.pop("prefix")).split(".")
        yield ExportRow(place, item)


def _draft(row: ExportFields, view: str) -> MemoryDraft:
    namespace = "/".join(row.names("namespace")) or None
    key = row.label("key")
    if key is None:
        raise SkipRow("no key")
    text = _text(row, view)
    return MemoryDraft(
        text=text,
        id=f"{namespace}/{key}" if namespace else key,
        namespace=namespace,
        created_at=row.time("created_at", "createdAt"),
        updated_at=row.time("updated_at", "updatedAt"),
        expires=row.time("expires_at"),
        metadata={"key": key, **row.others(*COLUMNS, *JAVASCRIPT, "namespace", "score")},
    )


def _text(row: ExportFields, view: str) -> str:
    """LangMem nests: `{"kind": "Memory", "content": {"content": "..."}}`."""
    value = row.data.get("value")
    if value is None:
        raise SkipRow("no value")
    if not isinstance(value, dict):
        return row.checked(value, "value")
    if not value:
        raise SkipRow(HarmlessSkip.EMPTY_TEXT)
    inner: object = value
    while view == "content" and isinstance(inner, dict) and "content" in inner:
        inner = inner["content"]
        if inner is None:
            raise SkipRow("no value.content")
    if isinstance(inner, str):
        return row.checked(inner, "value.content")
    data = plain_json(value if view == "value" else inner)
    return row.checked(json.dumps(data, ensure_ascii=False, sort_keys=True), "value")

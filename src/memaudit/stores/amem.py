"""A-Mem: notes as JSON (`vars(note)`), or the Chroma collection they are kept in."""

import json

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.foreign_json import loads
from memaudit.kernel.io.strict_json import kind_of
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import (
    ExportFields,
    ExportRow,
    SkipRow,
    mostly_have,
    rows_of,
    value_at,
)
from memaudit.stores.source import ExportFile, ExportSource

LISTS = ("memories", "notes")
SERIALISED = ("keywords", "links", "tags", "evolution_history")
"""Lists that Chroma stores as JSON text."""


class AMem(StoreFormat):
    """`full`: the note as A-Mem shows it to a model; `metadata`: without its content; `serialised`:
    everything it stores, links and history too, which is what the paper's full-note view costs."""

    name = "amem"
    label = "A-Mem, notes or Chroma dump"
    system = "A-Mem"
    views = ("full", "metadata", "content", "serialised")
    reader_time = "created_at"
    in_order = True

    def recognises(self, source: ExportSource) -> int:
        if any(_is_chroma(part) for part in source.parts):
            return 3
        notes = mostly_have(
            source, LISTS, ("content",), ("keywords",), ("context", "links", "tags")
        )
        keyed = any(_keyed(part) for part in source.parts)
        return 3 if notes or keyed else 0

    def take(self, ledger: ImportLedger) -> None:
        """Every note, in the order of the export: A-Mem appends."""
        for part in ledger.source.parts:
            rows = _chroma(part) if _is_chroma(part) else _keyed(part) or rows_of(part, LISTS)
            count = ledger.take(rows, _draft)
            if _is_chroma(part):
                ledger.check_limit(count)


def _is_chroma(part: ExportFile) -> bool:
    document = part.parsed.document
    return (
        part.kind == "json"
        and isinstance(document, dict)
        and {"ids", "documents", "metadatas"} <= document.keys()
    )


def _keyed(part: ExportFile) -> list[ExportRow]:
    """Notes under their ids, as `memory_system.memories` has them."""
    document = part.parsed.document
    if part.kind != "json" or not isinstance(document, dict) or not document:
        return []
    if not all(isinstance(note, dict) and "content" in note for note in document.values()):
        return []
    return [
        ExportRow(f"{part.name}: {str(id)[:40]}", {"id": id, **note})
        for id, note in document.items()
    ]


def _chroma(part: ExportFile) -> list[ExportRow]:
    columns = {}
    for key in ("ids", "documents", "metadatas"):
        column = value_at(part.parsed.document, key)[1]
        if not isinstance(column, list):
            raise MemAuditError(f"{part.name}: {key} is {kind_of(column)}, a list was expected")
        columns[key] = column
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise MemAuditError(f"{part.name}: ids, documents and metadatas differ in length")
    # `query` answers several questions at once, so that its lists are nested.
    if columns["ids"] and isinstance(columns["ids"][0], list):
        raise MemAuditError(f"{part.name}: is a query result (save collection.get() instead)")
    rows = []
    for at, (id, document, fields) in enumerate(zip(*columns.values(), strict=True)):
        place = f"{part.name}: ids[{at}]"
        if fields is not None and not isinstance(fields, dict):
            rows.append(ExportRow(place, problem=f"metadata is {kind_of(fields)}, not an object"))
            continue
        note = {**(fields or {}), "id": id}
        note["content"] = document if document is not None else note.get("content")
        rows.append(ExportRow(place, note))
    return rows


def _draft(row: ExportFields) -> MemoryDraft:
    content = row.text("content")
    for name in SERIALISED:
        value = row.data.get(name)
        if isinstance(value, str):
            try:
                # Chroma holds no lists, so A-Mem writes them as JSON; a bare word was a list of
                # one.
                row.data[name] = loads(value) if value.strip()[:1] in ("[", "{") else [value]
            except ValueError:
                raise SkipRow(f"{name} is text but not a JSON list") from None
        if isinstance(row.data.get(name), dict):  # links by kind, in some forks
            row.data[name] = [json.dumps(row.others()[name], sort_keys=True)]
    links = row.names("links")
    return MemoryDraft(
        text=_text(row, content),
        id=row.label("id"),
        created_at=row.time("timestamp"),
        updated_at=row.time("last_accessed") if row.view == "metadata" else None,
        salience=row.number("importance_score"),
        metadata={**row.others("id", "content", "timestamp"), "links": list(links)},
    )


def _text(row: ExportFields, content: str) -> str:
    """The text of the chosen view; a note without metadata is skipped in the metadata view."""
    if row.view == "content":
        return content
    if row.view == "serialised":
        return json.dumps({**row.others(), "content": content}, ensure_ascii=False, sort_keys=True)
    lines = [
        ("memory context", row.label("context")),
        ("memory keywords", ", ".join(row.names("keywords"))),
        ("memory tags", ", ".join(row.names("tags"))),
    ]
    if row.view == "metadata":
        lines.append(("memory links", ", ".join(row.names("links"))))
        return row.checked(
            "\n".join(f"{name}: {value}" for name, value in lines if value), "metadata"
        )
    lines.insert(0, ("memory content", content))
    return "\n".join(f"{name}: {value}" for name, value in lines if value)

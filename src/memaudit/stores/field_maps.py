"""The formats of memory systems that are maps of fields: of each system the table of its fields,
below the functions of those that need one. A new format of this kind is one `FieldMap` more, named
in `FIELD_MAPS`.
"""

import json

from pydantic import JsonValue

from memaudit.kernel.io.foreign_json import loads
from memaudit.kernel.io.store_file import HarmlessSkip, State, plain_json
from memaudit.kernel.io.timestamps import export_time
from memaudit.stores.field_map import (
    CODE,
    DOCUMENTATION,
    FieldMap,
    Pages,
    Table,
    counted_pages,
    each_page,
)
from memaudit.stores.ledger import ImportLedger
from memaudit.stores.platform_maps import PLATFORM_MAPS
from memaudit.stores.protocol import (
    ExportFields,
    ExportRow,
    SkipRow,
    mostly_have,
    samples,
    value_at,
)
from memaudit.stores.source import ExportSource

# LangGraph's store and LangMem


def _item(raw: ExportRow) -> ExportRow:
    """A row of the table as an item: the namespace is joined by dots, the value is JSON."""
    row = raw.value if isinstance(raw.value, dict) else {}
    try:
        value = None if row["value"] is None else loads(str(row["value"]))
    except ValueError as error:
        return ExportRow(raw.place, problem=f"value is {error}")
    item = {**row, "value": value, "namespace": str(row["prefix"]).split(".")}
    return ExportRow(raw.place, item)


def _item_namespace(row: ExportFields) -> str | None:
    return "/".join(row.names("namespace")) or None


def _item_id(row: ExportFields) -> str:
    """Keys repeat across namespaces."""
    key, namespace = row.label("key"), _item_namespace(row)
    if key is None:
        raise SkipRow("no key")
    return f"{namespace}/{key}" if namespace else key


def _item_text(row: ExportFields) -> str:
    """LangMem nests: `{"kind": "Memory", "content": {"content": "..."}}`."""
    value = row.data.get("value")
    if not isinstance(value, dict):
        return row.checked(value, "value")
    if not value:
        raise SkipRow(HarmlessSkip.EMPTY_TEXT)
    inner: object = value
    while row.view == "content" and isinstance(inner, dict) and "content" in inner:
        inner = inner["content"]
        if inner is None:
            raise SkipRow("no value.content")
    if isinstance(inner, str):
        return row.checked(inner, "value.content")
    text = json.dumps(plain_json(inner), ensure_ascii=False, sort_keys=True)
    return row.checked(text, "value")


def _item_metadata(row: ExportFields) -> dict[str, JsonValue]:
    times = ("created_at", "updated_at", "expires_at", "createdAt", "updatedAt")
    others = row.others("prefix", "key", "value", "namespace", "score", *times)
    return {"key": row.label("key"), **others}


LANGGRAPH = FieldMap(
    name="langgraph",
    system="LangGraph",
    label="LangGraph store and LangMem, items or SQLite",
    checked=DOCUMENTATION,
    views=("content", "value"),
    reader_time="created_at",
    marks=(("namespace",), ("key",), ("value",)),
    table=Table(
        "store",
        ("prefix", "key", "value"),
        ("created_at", "updated_at", "expires_at"),
        order="rowid",
        unpack=_item,
    ),
    lists=("items",),
    own=("value",),
    text=_item_text,
    id=_item_id,
    namespace=_item_namespace,
    created=("created_at", "createdAt"),  # the JavaScript library writes the second
    updated=("updated_at", "updatedAt"),
    expires="expires_at",
    metadata=_item_metadata,
    check=each_page({10: "store.search"}),
)


# Graphiti and Zep: the facts on entity edges, with the time each was true. The view `fact` is the
# fact alone. An ended fact with its dates is evidence of the change, so `dated` writes the interval
# into the text and counts such edges as active.


def _fact(row: ExportFields) -> str:
    text = row.text("fact")
    start, end = (export_time(row.data.get(name)) for name in ("valid_at", "invalid_at"))
    interval = f" ({start or 'unknown'} to {end or 'present'})"
    return text if row.view == "fact" else text + interval


def _fact_state(row: ExportFields) -> State:
    """A later edge contradicts an expired one, whatever its dates."""
    expired = row.data.get("expired_at") is not None
    return "superseded" if expired and row.view == "fact" else "active"


_graphiti_limits = each_page({10: "graphiti.search"})


def _check_graphiti(ledger: ImportLedger, pages: Pages) -> None:
    _graphiti_limits(ledger, pages)
    if ledger.view == "dated":
        ledger.warn("facts that ended count as active: the dated view writes their interval out")


GRAPHITI = FieldMap(
    name="graphiti",
    system="Graphiti",
    label="Graphiti and Zep, entity edges",
    checked=CODE,
    views=("fact", "dated"),
    reader_time="valid_from",
    marks=(("fact",), ("uuid", "valid_at", "invalid_at", "expired_at", "group_id")),
    lists=("edges", "facts"),
    own=("fact",),
    text=_fact,
    id="uuid",
    state=_fact_state,
    namespace="group_id",
    created="created_at",
    valid_from="valid_at",
    valid_to=("invalid_at", "expired_at"),
    expires=lambda row: row.time("invalid_at") if row.view == "fact" else None,
    sources="episodes",
    omitted=("fact", "invalid_at"),
    check=_check_graphiti,
)


# Memobase: the profile of a user and, where given, events. An entry such as `fish` means nothing
# without its topic, so the view `full` is `food::diet: fish`, as it enters a prompt.

_EVENT = ("event_data", "gist_data")
_MEMOBASE = ("data.profiles", "profiles", "data.events", "events")


def _memobase(source: ExportSource) -> int:
    kinds = ((_EVENT,), (("content",), ("topic",), ("sub_topic",)), (("content",), ("attributes",)))
    return 3 if any(mostly_have(source, _MEMOBASE, *marks) for marks in kinds) else 0


def _is_event(row: ExportFields) -> bool:
    return any(name in row.data for name in _EVENT)


def _attributes(row: ExportFields) -> ExportFields:
    """The server nests them; the client library lifts them out."""
    return row.inner("attributes") if "attributes" in row.data else row


def _memobase_text(row: ExportFields) -> str:
    if _is_event(row):
        return _event_text(row.inner(next(name for name in _EVENT if name in row.data)), row)
    content, inner = row.text("content"), _attributes(row)
    path = "::".join(filter(None, (inner.label("topic"), inner.label("sub_topic"))))
    return f"{path}: {content}" if path and row.view == "full" else content


def _event_text(event: ExportFields, row: ExportFields) -> str:
    """The sentence of an event, or what it adds to the profile."""
    text: object = event.data.get("event_tip") or event.data.get("content")
    if not text:
        delta = event.data.get("profile_delta")
        entries = delta if isinstance(delta, list) else []
        added = [entry.get("content") for entry in entries if isinstance(entry, dict)]
        text = "\n".join(content for content in added if isinstance(content, str)) or None
    if text is None:
        raise SkipRow("event without a text")
    return row.checked(text, "event")


def _memobase_metadata(row: ExportFields) -> dict[str, JsonValue]:
    part, name = ("event", "similarity") if _is_event(row) else ("profile", "content")
    return {"part": part, **row.others("id", "created_at", "updated_at", name)}


def _check_memobase(ledger: ImportLedger, pages: Pages) -> None:
    for rows in pages:
        if any(isinstance(raw.value, dict) and "event_data" in raw.value for raw in rows):
            ledger.check_limit(len(rows), {10: "user.event"})


MEMOBASE = FieldMap(
    name="memobase",
    system="Memobase",
    label="Memobase, profiles and events",
    checked=CODE,
    views=("full", "content"),
    recognised=_memobase,
    lists=_MEMOBASE,
    own=("content", *_EVENT),
    text=_memobase_text,
    id="id",
    namespace=lambda row: "events" if _is_event(row) else _attributes(row).label("topic"),
    created="created_at",
    updated="updated_at",
    metadata=_memobase_metadata,
    check=_check_memobase,
)


# MemOS: the textual memory of a cube, or its get_all

_MEMOS = ("nodes", "text_mem.nodes", "memories", "text_mem", "data.text_mem", "data")
_MEMOS_STATES: dict[object, State] = {
    None: "active",
    "activated": "active",
    "resolving": "active",  # being compared with newer memories, and still found by searches
    "archived": "superseded",
    "deleted": "deleted",
}


def _memos(source: ExportSource) -> int:
    """By the metadata: Mem0's rows have `memory` and `metadata` too, with an owner or a hash."""
    marks = {"status", "memory_type", "is_fast", "visibility", "confidence", "history"}
    marked = [
        "memory" in row
        and isinstance(metadata := row.get("metadata"), dict)
        and bool(marks & metadata.keys())
        and not {"user_id", "hash"} & row.keys()
        for row in samples(source, _MEMOS)
    ]
    return 3 if marked and sum(marked) * 2 > len(marked) else 0


def _memos_state(row: ExportFields) -> State:
    status = row.inner("metadata").data.get("status")
    if not isinstance(status, str | None) or status not in _MEMOS_STATES:
        raise SkipRow("unknown status")
    return _MEMOS_STATES[status]


def _check_memos(ledger: ImportLedger, _: Pages) -> None:
    if any(value_at(part.parsed.document, "edges")[1] for part in ledger.source.parts):
        ledger.warn("a tree: its nodes are read, its edges are not")


MEMOS = FieldMap(
    name="memos",
    system="MemOS",
    label="MemOS, textual memory",
    checked=f"{CODE} (items); a tree's nodes against nothing",
    views=("memory",),
    recognised=_memos,
    lists=_MEMOS,
    text="memory",
    id="id",
    state=_memos_state,
    namespace="metadata.user_id",
    created="metadata.created_at",
    updated="metadata.updated_at",
    metadata=lambda row: row.inner("metadata").others(
        "created_at", "updated_at", "embedding", "status"
    ),
    check=_check_memos,
)


# supermemory: extracted memories with their versions; documents are not memories

_SUPERMEMORY = ("memoryEntries", "memories", "results")


def _supermemory(source: ExportSource) -> int:
    if mostly_have(source, _SUPERMEMORY, ("memory",), ("isLatest", "isForgotten")):
        return 4  # above Mem0, whose rows have `memory` as well
    documents = [part.parsed.document for part in source.parts if part.kind == "json"]
    return 3 if any(value_at(document, "memoryEntries")[0] for document in documents) else 0


def _earlier(rows: list[ExportRow]) -> list[ExportRow]:
    """The earlier versions listed under a row, which need not say that they are not the latest."""
    versions = []
    for raw in rows:
        history = raw.value.get("history") if isinstance(raw.value, dict) else None
        for at, row in enumerate(history if isinstance(history, list) else []):
            value = {**row, "_earlier": True} if isinstance(row, dict) else row
            versions.append(ExportRow(f"{raw.place}.history[{at}]", value))
    return versions


def _version(row: ExportFields) -> State:
    latest = row.flag("isLatest") if "isLatest" in row.data else "_earlier" not in row.data
    return "deleted" if row.flag("isForgotten") else "active" if latest else "superseded"


def _stored(row: ExportFields) -> ExportFields:
    """The object that has the times: some rows nest them under `system`."""
    return row.inner("system") if "system" in row.data else row


def _container(row: ExportFields) -> str | None:
    tags = row.names("containerTags")
    return row.label("containerTag") or row.label("spaceId") or next(iter(tags), None)


SUPERMEMORY = FieldMap(
    name="supermemory",
    system="supermemory",
    label="supermemory, memory entries",
    checked=DOCUMENTATION,
    views=("memory",),
    recognised=_supermemory,
    lists=_SUPERMEMORY,
    expand=_earlier,
    text="memory",
    id="id",
    state=_version,
    namespace=_container,
    created=lambda row: _stored(row).time("createdAt"),
    updated=lambda row: _stored(row).time("updatedAt"),
    expires="forgetAfter",
    sources="documentIds",
    omitted=("createdAt", "updatedAt", "history", "_earlier"),
    check=counted_pages("pagination.totalItems", {10: "its list call"}),
)


# Hindsight: the memory units of a bank, as listed or exported


def _unit_state(row: ExportFields) -> State:
    status = (row.label("state") or "active").lower()
    if status in ("deleted", "forgotten"):
        return "deleted"
    if status == "expired":
        return "expired"
    if row.data.get("invalidated_at") is not None or status in ("invalidated", "superseded"):
        return "superseded"
    if status not in ("active", "valid", "current"):
        row.note(f"unknown state {status[:20]!r}, counted as active")
    return "active"


def _unit_metadata(row: ExportFields) -> dict[str, JsonValue]:
    kind = row.label("fact_type") or row.label("type")
    others = row.others("id", "text", "created_at", "updated_at", "source_memory_ids")
    return {**({"fact_type": kind} if kind else {}), **others}


HINDSIGHT = FieldMap(
    name="hindsight",
    system="Hindsight",
    label="Hindsight, memory units",
    checked=f"{DOCUMENTATION} (the page of rows); a bank export against nothing",
    reader_time="valid_from",
    marks=(("text",), ("fact_type", "mentioned_at", "occurred_start", "invalidated_at")),
    lists=("items", "memories", "memory_units", "results"),
    text="text",
    id="id",
    state=_unit_state,
    namespace="bank_id",
    created=("created_at", "mentioned_at", "date"),
    updated="updated_at",
    valid_from="occurred_start",
    valid_to=("occurred_end", "invalidated_at"),
    sources="source_memory_ids",
    metadata=_unit_metadata,
    check=counted_pages("total", {}),
)

FIELD_MAPS = (LANGGRAPH, GRAPHITI, MEMOBASE, MEMOS, SUPERMEMORY, HINDSIGHT, *PLATFORM_MAPS)

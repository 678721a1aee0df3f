"""The table of the formats that are maps of fields, and the functions of the fields that need one.

A new format of this kind is a row of `FIELD_MAPS`.
"""

from pydantic import JsonValue

from memaudit.kernel.io.foreign_json import encodable, loads
from memaudit.kernel.io.store_file import ExportWarning, State
from memaudit.kernel.io.timestamps import export_time
from memaudit.stores.field_map import (
    FieldMap,
    Pages,
    Table,
    chained_pages,
    counted_pages,
    each_page,
)
from memaudit.stores.ledger import ImportLedger
from memaudit.stores.protocol import (
    ExportFields,
    ExportRow,
    SkipRow,
    mostly_have,
    samples,
    value_at,
)
from memaudit.stores.source import ExportSource

# Amazon Bedrock AgentCore: the records of a memory, as `list_memory_records` returns them.

_AGENTCORE = "memoryRecordSummaries"
_agentcore_pages = chained_pages(
    # Of a page, and of the AWS command line and boto3's paginator where a maximum was given.
    ("nextToken", "NextToken"),
    {20: "list_memory_records", 100: "one page, its largest"},
)


def _agentcore(source: ExportSource) -> int:
    if mostly_have(source, (_AGENTCORE,), ("memoryRecordId",), ("content",)):
        return 3
    documents = [part.parsed.document for part in source.parts if part.kind == "json"]
    empty = [value_at(document, _AGENTCORE) == (True, []) for document in documents]
    return 3 if empty and all(empty) else 0


def _check_agentcore(ledger: ImportLedger, pages: Pages) -> None:
    rows = [row.value for rows in pages for row in rows]
    if any(isinstance(row, dict) and row.get("score") is not None for row in rows):
        ledger.warn(
            ExportWarning.SEARCH_SCORES.text(
                "retrieve_memory_records holds only what it found, list_memory_records holds "
                "the store"
            )
        )
    _agentcore_pages(ledger, pages)


def _first_namespace(row: ExportFields, _: str) -> str | None:
    return next(iter(row.names("namespaces")), None)


# Vertex AI Memory Bank: the memories of an agent engine, as its REST interface lists them.


def _scope(row: ExportFields, _: str) -> str | None:
    """`app_name=diary, user_id=ann`: a memory belongs to all names of its scope together."""
    scope = row.object("scope")
    pairs = [f"{name}={value}" for name, value in sorted(scope.items()) if isinstance(value, str)]
    if len(pairs) < len(scope):
        row.note("part of scope is not text, left out")
    return encodable(", ".join(pairs)).strip() or None


# Graphiti and Zep: the facts on entity edges, with the time each was true. The view `fact` is the
# fact alone; `dated` has its interval, so that an ended fact says that it ended.


def _fact(row: ExportFields, view: str) -> str:
    text = row.text("fact")
    start, end = (export_time(row.data.get(name)) for name in ("valid_at", "invalid_at"))
    return text if view == "fact" else f"{text} ({start or 'unknown'} to {end or 'present'})"


def _fact_state(row: ExportFields, view: str) -> State:
    """A later edge contradicts an expired one, whatever its dates."""
    expired = row.data.get("expired_at") is not None
    return "superseded" if expired and view == "fact" else "active"


def _fact_end(row: ExportFields, _: str) -> str | None:
    end, expired = row.time("invalid_at"), row.time("expired_at")
    return end or expired


def _fact_expires(row: ExportFields, view: str) -> str | None:
    return row.time("invalid_at") if view == "fact" else None


_graphiti_pages = each_page({10: "graphiti.search"})


def _check_graphiti(ledger: ImportLedger, pages: Pages) -> None:
    _graphiti_pages(ledger, pages)
    if ledger.options.view == "dated":
        ledger.warn("facts that ended count as active: the dated view writes their interval out")


# Memobase: the profile of a user and, where given, events. The view `full` is
# `topic::sub_topic: content`, as it enters a prompt; `content` is the value alone.

_EVENT = ("event_data", "gist_data")


def _is_event(row: ExportFields) -> bool:
    return any(name in row.data for name in _EVENT)


def _attributes(row: ExportFields) -> ExportFields:
    """The server nests them; the client library lifts them out."""
    return row.inner("attributes") if "attributes" in row.data else row


def _memobase(source: ExportSource) -> int:
    lists = ("data.profiles", "profiles", "data.events", "events")
    kinds = ((_EVENT,), (("content",), ("topic",), ("sub_topic",)), (("content",), ("attributes",)))
    return 3 if any(mostly_have(source, lists, *marks) for marks in kinds) else 0


def _memobase_text(row: ExportFields, view: str) -> str:
    """A piece of a profile under its path; of an event its sentence, or what it adds to it."""
    if not _is_event(row):
        content, inner = row.text("content"), _attributes(row)
        names = [inner.label("topic"), inner.label("sub_topic")]
        path = "::".join(name for name in names if name)
        return f"{path}: {content}" if path and view == "full" else content
    data = row.inner(next(name for name in _EVENT if name in row.data))
    text: object = data.data.get("event_tip") or data.data.get("content")
    if not text:
        delta = data.data.get("profile_delta")
        rows = delta if isinstance(delta, list) else []
        contents = [row.get("content") for row in rows if isinstance(row, dict)]
        text = "\n".join(content for content in contents if isinstance(content, str)) or None
    if text is None:
        raise SkipRow("event without a text")
    return row.checked(text, "event")


def _topic(row: ExportFields, _: str) -> str | None:
    return "events" if _is_event(row) else _attributes(row).label("topic")


def _memobase_part(row: ExportFields) -> dict[str, JsonValue]:
    part, name = ("event", "similarity") if _is_event(row) else ("profile", "content")
    return {"part": part, **row.others("id", "created_at", "updated_at", name)}


def _check_memobase(ledger: ImportLedger, pages: Pages) -> None:
    for rows in pages:
        if any(isinstance(raw.value, dict) and "event_data" in raw.value for raw in rows):
            ledger.check_limit(len(rows), {10: "user.event"})


# MemOS: the textual memory of a cube, or its get_all.

_MEMOS = ("nodes", "text_mem.nodes", "memories", "text_mem", "data.text_mem", "data")
_MEMOS_STATES: dict[str, State] = {
    "activated": "active",
    "resolving": "active",  # being compared with newer memories, and still found by searches
    "archived": "superseded",
    "deleted": "deleted",
}


def _memos(source: ExportSource) -> int:
    marks = {"status", "memory_type", "is_fast", "visibility", "confidence", "history"}
    marked = [
        "memory" in row
        and isinstance(metadata := row.get("metadata"), dict)
        and bool(marks & metadata.keys())
        and not {"user_id", "hash"} & row.keys()
        for row in samples(source, _MEMOS)
    ]
    return 3 if marked and sum(marked) * 2 > len(marked) else 0


def _memos_state(row: ExportFields, _: str) -> State:
    status = row.inner("metadata").data.get("status")
    if status is not None and (not isinstance(status, str) or status not in _MEMOS_STATES):
        raise SkipRow("unknown status")
    return _MEMOS_STATES[status] if status else "active"


def _memos_metadata(row: ExportFields) -> dict[str, JsonValue]:
    return row.inner("metadata").others("created_at", "updated_at", "embedding", "status")


def _check_memos(ledger: ImportLedger, _: Pages) -> None:
    if any(value_at(part.parsed.document, "edges")[1] for part in ledger.source.parts):
        ledger.warn("a tree: its nodes are read, its edges are not")


# supermemory: extracted memories with their versions; documents are not memories.

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


def _version(row: ExportFields, _: str) -> State:
    latest = row.flag("isLatest") if "isLatest" in row.data else "_earlier" not in row.data
    return "deleted" if row.flag("isForgotten") else "active" if latest else "superseded"


def _supermemory_times(row: ExportFields) -> ExportFields:
    return row.inner("system") if "system" in row.data else row


def _container(row: ExportFields, _: str) -> str | None:
    tags = row.names("containerTags")
    return row.label("containerTag") or row.label("spaceId") or next(iter(tags), None)


# Hindsight: the memory units of a bank, as listed or exported. Invalidated ones are superseded.


def _unit_state(row: ExportFields, _: str) -> State:
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


# OpenAI Agents SDK: a session is a transcript, read as if every message were a memory; tool calls
# and reasoning are counted and left out.

_ITEMS = ("items",)


def _openai_agents(source: ExportSource) -> int:
    calls = ("role", "call_id", "output", "summary")
    kinds = ((("role",), ("content",)), (("type",), calls))
    return 2 if any(mostly_have(source, _ITEMS, *marks) for marks in kinds) else 0


def _message_item(raw: ExportRow) -> ExportRow:
    """The item in a row of the table, with what the row says of it."""
    row = raw.value if isinstance(raw.value, dict) else {}
    try:
        item = loads(str(row["message_data"]))
    except ValueError as error:
        return ExportRow(raw.place, problem=f"message is {error}")
    if isinstance(item, dict):
        more = {"_row": row["id"], "_session": row["session_id"], "_time": row["created_at"]}
        item = {**item, **more}
    return ExportRow(raw.place, item)


def _words(row: ExportFields, _: str) -> str:
    """The text of a message: its content, or the pieces of it that are text."""
    if (kind := row.label("type") or "message") != "message":
        raise SkipRow(f"not a message: {kind[:40]}")
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


def _message_id(row: ExportFields, _: str) -> str | None:
    number = row.label("_row")
    return f"message-{number}" if number else row.label("id")


def _check_openai_agents(ledger: ImportLedger, _: Pages) -> None:
    ledger.warn("a transcript, not extracted memories: the SDK stores messages word for word")


# LibreChat: a user's memories, as its interface returns them or as MongoDB exports them. The view
# `value` is the value, as the chat model is shown it; `full` is the key and the value.

_WRAPPERS = ("$oid", "$date", "$numberLong", "$numberInt", "$numberDouble")
"""Under which MongoDB's Extended JSON writes the values that JSON has no type for."""


def _plain(value: object) -> object:
    """The value inside Extended JSON: `{"$date": {"$numberLong": "1741954200000"}}`."""
    while isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _WRAPPERS:
        value = next(iter(value.values()))
    return value


def _entry(row: ExportFields, view: str) -> str:
    key, text = row.label("key"), row.text("value")
    if key is None:
        raise SkipRow("no key")
    return row.checked(f"{key}: {text}", "value") if view == "full" else text


def _entry_id(row: ExportFields, _: str) -> str | None:
    key, user = row.label("key"), row.label("userId")
    return row.label("_id") or (f"{user}/{key}" if user else key)


# Open WebUI: a user's memories, as its interface lists them or in the database `webui.db`.

_WEBUI = ("id", "user_id", "content", "updated_at", "created_at")


def _open_webui(source: ExportSource) -> int:
    """By its five fields: times in seconds tell them from similar rows."""
    marked = [
        set(_WEBUI) <= row.keys()
        and "role" not in row
        and all(type(row[name]) is int for name in ("created_at", "updated_at"))
        for row in samples(source)
    ]
    return 2 if sum(marked) * 2 > len(marked) else 0


# Agno: user memories, as `to_dict` gives them or in the SQLite table they are kept in.


def _parsed(value: object) -> object:
    """The value of a JSON text; a text that is not JSON stands for itself."""
    if not isinstance(value, str):
        return value
    try:
        return loads(value)
    except ValueError:
        return value


def _agno_row(raw: ExportRow) -> ExportRow:
    """Its columns `memory` and `topics` hold JSON, also where it is only a text in quotes."""
    row = raw.value if isinstance(raw.value, dict) else {}
    opened = {name: _parsed(row.get(name)) for name in ("memory", "topics")}
    return ExportRow(raw.place, {**row, **opened})


def _agno_text(row: ExportFields, _: str) -> str:
    """Earlier versions nest: `{"memory": "..."}`, as an object or as its JSON text."""
    value = row.data.get("memory")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        inner = _parsed(value)
        value = inner if isinstance(inner, dict) and "memory" in inner else value
    if isinstance(value, dict) and "memory" in value:
        value = value["memory"]
    return row.checked(value, "memory")


FIELD_MAPS = (
    FieldMap(
        name="graphiti",
        system="Graphiti",
        label="Graphiti and Zep, entity edges",
        checked="the system's own source code",
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
        valid_to=_fact_end,
        expires=_fact_expires,
        sources="episodes",
        omitted=("uuid", "fact", "created_at", "valid_at", "invalid_at", "episodes"),
        check=_check_graphiti,
    ),
    FieldMap(
        name="memobase",
        system="Memobase",
        label="Memobase, profiles and events",
        checked="the system's own source code",
        views=("full", "content"),
        recognised=_memobase,
        lists=("data.profiles", "profiles", "data.events", "events"),
        own=("content", *_EVENT),
        text=_memobase_text,
        id="id",
        namespace=_topic,
        created="created_at",
        updated="updated_at",
        metadata=_memobase_part,
        check=_check_memobase,
    ),
    FieldMap(
        name="memos",
        system="MemOS",
        label="MemOS, textual memory",
        checked="the system's own source code (items); a tree's nodes against nothing",
        views=("memory",),
        recognised=_memos,
        lists=_MEMOS,
        own=("memory",),
        text="memory",
        id="id",
        state=_memos_state,
        namespace="metadata.user_id",
        created="metadata.created_at",
        updated="metadata.updated_at",
        metadata=_memos_metadata,
        check=_check_memos,
    ),
    FieldMap(
        name="supermemory",
        system="supermemory",
        label="supermemory, memory entries",
        checked="public documentation",
        views=("memory",),
        recognised=_supermemory,
        lists=_SUPERMEMORY,
        own=("memory",),
        expand=_earlier,
        text="memory",
        id="id",
        state=_version,
        namespace=_container,
        created=lambda row, _: _supermemory_times(row).time("createdAt"),
        updated=lambda row, _: _supermemory_times(row).time("updatedAt"),
        expires="forgetAfter",
        sources="documentIds",
        omitted=("id", "memory", "createdAt", "updatedAt", "documentIds", "history", "_earlier"),
        check=counted_pages("pagination.totalItems", {10: "its list call"}),
    ),
    FieldMap(
        name="hindsight",
        system="Hindsight",
        label="Hindsight, memory units",
        checked="public documentation (the page of rows); a bank export against nothing",
        reader_time="valid_from",
        marks=(("text",), ("fact_type", "mentioned_at", "occurred_start", "invalidated_at")),
        lists=("items", "memories", "memory_units", "results"),
        own=("text",),
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
    ),
    FieldMap(
        name="openai-agents",
        system="OpenAI Agents SDK",
        label="OpenAI Agents SDK, sessions",
        checked="public documentation",
        views=("message",),
        recognised=_openai_agents,
        table=Table(
            "agent_messages",
            ("id", "session_id", "message_data", "created_at"),
            order='"id"',
            unpack=_message_item,
        ),
        lists=_ITEMS,
        own=("role",),
        text=_words,
        id=_message_id,
        namespace="_session",
        created="_time",
        metadata=lambda row: {"role": row.label("role")},
        in_order=True,
        check=_check_openai_agents,
    ),
    FieldMap(
        name="agentcore",
        system="Amazon Bedrock AgentCore",
        label="Amazon Bedrock AgentCore, memory records",
        checked="public documentation",
        recognised=_agentcore,
        lists=(_AGENTCORE,),
        own=("memoryRecordId",),
        text="content.text",
        id="memoryRecordId",
        namespace=_first_namespace,
        created="createdAt",
        omitted=("memoryRecordId", "content", "createdAt", "score"),
        check=_check_agentcore,
    ),
    FieldMap(
        name="vertex-memory",
        system="Vertex AI Memory Bank",
        label="Vertex AI Memory Bank, memories",
        checked="public documentation",
        views=("fact",),
        marks=(("fact",), ("scope",), ("name", "createTime")),
        lists=("memories",),
        own=("fact",),
        text="fact",
        id="name",
        namespace=_scope,
        created="createTime",
        updated="updateTime",
        expires="expireTime",
        omitted=("name", "fact", "createTime", "updateTime", "expireTime"),
        check=chained_pages(("nextPageToken",), {}),
    ),
    FieldMap(
        name="librechat",
        system="LibreChat",
        label="LibreChat, memories",
        checked="the system's own source code; a MongoDB export against nothing",
        views=("value", "full"),
        marks=(("key",), ("value",), ("userId", "tokenCount"), ("updated_at", "tokenCount")),
        lists=("memories",),
        own=("value",),
        unpack=_plain,
        text=_entry,
        id=_entry_id,
        namespace="userId",
        updated="updated_at",
        omitted=("_id", "value", "updated_at", "userId", "__v"),
        by_update=True,
    ),
    FieldMap(
        name="open-webui",
        system="Open WebUI",
        label="Open WebUI, memories",
        checked="the system's own source code",
        views=("content",),
        reader_time="created_at",
        recognised=_open_webui,
        table=Table("memory", _WEBUI, ("type", "path", "meta")),  # columns of newer versions
        own=("content",),
        text="content",
        id="id",
        namespace="user_id",
        created="created_at",
        updated="updated_at",
        omitted=_WEBUI,
    ),
    FieldMap(
        name="agno",
        system="Agno",
        label="Agno, user memories",
        checked="the system's own source code",
        views=("memory",),
        marks=(
            ("memory_id",),
            ("memory",),
            ("user_id", "topics", "input", "agent_id", "team_id"),
        ),
        certainty=4,  # above Mem0, whose rows have `memory` beside `id`
        table=Table(
            "",
            ("memory_id", "memory", "user_id"),
            ("input", "topics", "agent_id", "team_id", "feedback", "created_at", "updated_at"),
            unpack=_agno_row,
        ),
        own=("memory",),
        text=_agno_text,
        id="memory_id",
        namespace="user_id",
        created="created_at",
        updated="updated_at",
        omitted=("memory_id", "memory", "user_id", "created_at", "updated_at"),
    ),
)

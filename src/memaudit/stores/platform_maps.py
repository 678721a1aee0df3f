"""Field maps of agent platforms and chat programs: memories and sessions that they keep."""

from memaudit.kernel.io.foreign_json import encodable, loads
from memaudit.kernel.io.store_file import ExportWarning
from memaudit.stores.field_map import CODE, DOCUMENTATION, FieldMap, Pages, Table, chained_pages
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

# OpenAI Agents SDK: a session is a transcript, read as if every message were a memory; tool calls
# and reasoning are counted and left out

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


def _words(row: ExportFields) -> str:
    """The text of a message: its content, or the pieces of it that are text."""
    if (kind := row.label("type") or "message") != "message":
        raise SkipRow(f"not a message: {kind[:40]}")
    content = row.data.get("content")
    if not isinstance(content, list):
        return row.text("content")
    words = [piece.get("text") if isinstance(piece, dict) else piece for piece in content]
    texts = [text for text in words if isinstance(text, str)]
    if len(texts) < len(words):
        row.note("part of a message is not text, left out")
    return row.checked("\n".join(texts), "content")


def _message_id(row: ExportFields) -> str | None:
    number = row.label("_row")
    return f"message-{number}" if number else row.label("id")


def _check_openai_agents(ledger: ImportLedger, _: Pages) -> None:
    ledger.warn("a transcript, not extracted memories: the SDK stores messages word for word")


OPENAI_AGENTS = FieldMap(
    name="openai-agents",
    system="OpenAI Agents SDK",
    label="OpenAI Agents SDK, sessions",
    checked=DOCUMENTATION,
    views=("message",),
    recognised=_openai_agents,
    table=Table(
        "agent_messages",
        ("id", "session_id", "message_data", "created_at"),
        order='"id"',  # SQLite's CURRENT_TIMESTAMP counts whole seconds only
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
)


# Amazon Bedrock AgentCore: the records of a memory, as `list_memory_records` returns them

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
            "retrieve_memory_records holds only what it found, list_memory_records holds the store",
            ExportWarning.SEARCH_SCORES,
        )
    _agentcore_pages(ledger, pages)


AGENTCORE = FieldMap(
    name="agentcore",
    system="Amazon Bedrock AgentCore",
    label="Amazon Bedrock AgentCore, memory records",
    checked=DOCUMENTATION,
    recognised=_agentcore,
    lists=(_AGENTCORE,),
    own=("memoryRecordId",),
    text="content.text",
    id="memoryRecordId",
    namespace=lambda row: next(iter(row.names("namespaces")), None),
    created="createdAt",
    omitted=("score",),
    check=_check_agentcore,
)


# Vertex AI Memory Bank: the memories of an agent engine, as its REST interface lists them


def _scope(row: ExportFields) -> str | None:
    """`app_name=diary, user_id=ann`: a memory belongs to all names of its scope together."""
    scope = row.object("scope")
    pairs = [f"{name}={value}" for name, value in sorted(scope.items()) if isinstance(value, str)]
    if len(pairs) < len(scope):
        row.note("part of scope is not text, left out")
    return encodable(", ".join(pairs)).strip() or None


VERTEX_MEMORY = FieldMap(
    name="vertex-memory",
    system="Vertex AI Memory Bank",
    label="Vertex AI Memory Bank, memories",
    checked=DOCUMENTATION,
    views=("fact",),
    marks=(("fact",), ("scope",), ("name", "createTime")),
    lists=("memories",),
    text="fact",
    id="name",
    namespace=_scope,
    created="createTime",
    updated="updateTime",
    expires="expireTime",
    omitted=("expireTime",),
    check=chained_pages(("nextPageToken",), {}),
)


# LibreChat: a user's memories, as its interface returns them or as MongoDB exports them. Its chat
# model is shown the value; the agent that writes memories is shown the key as well.

_WRAPPERS = ("$oid", "$date", "$numberLong", "$numberInt", "$numberDouble")
"""Under which MongoDB's Extended JSON writes the values that JSON has no type for."""


def _plain(value: object) -> object:
    """The value inside Extended JSON: `{"$date": {"$numberLong": "1741954200000"}}`."""
    while isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _WRAPPERS:
        value = next(iter(value.values()))
    return value


def _entry(row: ExportFields) -> str:
    key, text = row.label("key"), row.text("value")
    if key is None:
        raise SkipRow("no key")
    return row.checked(f"{key}: {text}", "value") if row.view == "full" else text


def _entry_id(row: ExportFields) -> str | None:
    """The id of the database, or else the key and whose it is: a user has each key once."""
    key, user = row.label("key"), row.label("userId")
    return row.label("_id") or (f"{user}/{key}" if user else key)


LIBRECHAT = FieldMap(
    name="librechat",
    system="LibreChat",
    label="LibreChat, memories",
    checked=f"{CODE}; a MongoDB export against nothing",
    views=("value", "full"),
    marks=(("key",), ("value",), ("userId", "tokenCount"), ("updated_at", "tokenCount")),
    lists=("memories",),
    own=("value",),
    unpack=_plain,
    text=_entry,
    id=_entry_id,
    namespace="userId",
    updated="updated_at",
    omitted=("_id", "value", "userId", "__v"),
    by_update=True,
)


# Open WebUI: a user's memories, as its interface lists them or in the database `webui.db`

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


OPEN_WEBUI = FieldMap(
    name="open-webui",
    system="Open WebUI",
    label="Open WebUI, memories",
    checked=CODE,
    views=("content",),
    reader_time="created_at",
    recognised=_open_webui,
    table=Table("memory", _WEBUI, ("type", "path", "meta")),  # columns of newer versions
    text="content",
    id="id",
    namespace="user_id",
    created="created_at",
    updated="updated_at",
    omitted=("user_id",),
)


# Agno: user memories, as `to_dict` gives them or in the SQLite table they are kept in. The table of
# Agno 1 has other columns and holds Python code that its reader evaluates; it is not read.


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


def _agno_text(row: ExportFields) -> str:
    """Earlier versions nest: `{"memory": "..."}`, as an object or as its JSON text."""
    value = row.data.get("memory")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        inner = _parsed(value)
        value = inner if isinstance(inner, dict) and "memory" in inner else value
    if isinstance(value, dict) and "memory" in value:
        value = value["memory"]
    return row.checked(value, "memory")


AGNO = FieldMap(
    name="agno",
    system="Agno",
    label="Agno, user memories",
    checked=CODE,
    views=("memory",),
    marks=(("memory_id",), ("memory",), ("user_id", "topics", "input", "agent_id", "team_id")),
    certainty=4,  # above Mem0, whose rows have `memory` beside `id`
    table=Table(
        "",  # whoever sets Agno up names the table
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
    omitted=("memory", "user_id"),
)

PLATFORM_MAPS = (OPENAI_AGENTS, AGENTCORE, VERTEX_MEMORY, LIBRECHAT, OPEN_WEBUI, AGNO)

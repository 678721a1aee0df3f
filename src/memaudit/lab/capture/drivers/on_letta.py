"""Letta: one agent per package, one turn per message; blocks and passages at the end.

Letta runs in this process, without its web server, on a SQLite file. Its queries work with SQLite
and Postgres, but the module that opens the database only knows Postgres, so its engine is replaced.
"""

import asyncio
import importlib
import logging
import os
import re
from datetime import UTC, datetime
from typing import Any


def _letta(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"letta.{module}"), name)


_database: Any = importlib.import_module("letta.server.db")
_sqlalchemy: Any = importlib.import_module("sqlalchemy")
_asyncio_engine: Any = importlib.import_module("sqlalchemy.ext.asyncio")
_OpenAI: Any = importlib.import_module("openai").OpenAI
_tables = _letta("orm.base", "Base").metadata
_load = _letta("agents.agent_loop", "AgentLoop").load
_described = {
    "human": _letta("constants", "DEFAULT_HUMAN_BLOCK_DESCRIPTION"),
    "persona": _letta("constants", "DEFAULT_PERSONA_BLOCK_DESCRIPTION"),
}
_steps = _letta("constants", "DEFAULT_MAX_STEPS")
_AgentManager = _letta("services.agent_manager", "AgentManager")
_Block = _letta("schemas.block", "CreateBlock")
_CreateAgent = _letta("schemas.agent", "CreateAgent")
_EmbeddingConfig = _letta("schemas.embedding_config", "EmbeddingConfig")
_LLMConfig = _letta("schemas.llm_config", "LLMConfig")
_Message = _letta("schemas.message", "MessageCreate")
_Organizations = _letta("services.organization_manager", "OrganizationManager")
_Run = _letta("schemas.run", "Run")
_Runs = _letta("services.run_manager", "RunManager")
_Tools = _letta("services.tool_manager", "ToolManager")
_Users = _letta("services.user_manager", "UserManager")

DISTRIBUTIONS = ("letta", "sqlalchemy", "openai")
OPTIONS = {
    "agent_type",
    "budget",
    "context_window",
    "human",
    "max_steps",
    "persona",
    "system",
    "temperature",
}
CONTEXT_WINDOW = 128_000
"""Tokens, whatever the model is called: Letta would go by its name, and sum up a conversation that
is longer."""
CHARACTERS_PER_WORD = 7
"""With the space: block limits are in characters, budgets in words."""
ARCHIVAL_TOOLS = ["archival_memory_insert", "archival_memory_search"]
"""No longer among the default tools of an agent; without them there are no passages."""
EVERYTHING = 1_000_000
MODEL_ERRORS = {"KeyError", "TypeError", "ValueError"}
"""What block tools raise if the model called them wrongly: the agent is told and may try again.
A tool that embeds a passage may raise the same for other reasons."""

logging.getLogger().setLevel(logging.WARNING)
# Embeddings that take two seconds are logged as an error, and would count as a failed message.
logging.getLogger("Letta.letta.llm_api.openai_client").addFilter(
    lambda record: "DIAGNOSTIC" not in record.getMessage()
)
_loop = asyncio.Runner()  # one for all agents: Letta may keep things that belong to a loop


class System:
    def __init__(self, settings: dict[str, Any], folder: str) -> None:
        options = settings["options"]
        embedder = settings["embedder"] or "text-embedding-3-small"
        probe = _OpenAI(base_url=settings["base_url"], api_key=settings["api_key"])
        answer = probe.embeddings.create(input=["memory"], model=embedder, encoding_format="float")
        size = len(answer.data[0].embedding)
        self.steps = options.get("max_steps", _steps)
        self.given = {label: options.get(label, "") for label in ("human", "persona")}
        window = options.get("context_window") or CONTEXT_WINDOW
        tuning = {name: options[name] for name in ("temperature",) if name in options}
        chosen = {name: options[name] for name in ("agent_type", "system") if name in options}
        request = _CreateAgent(
            name="capture",
            tools=ARCHIVAL_TOOLS,
            **chosen,
            memory_blocks=[
                _Block(label=label, value=text, **self._limits(settings, label))
                for label, text in self.given.items()
            ],
            llm_config=_LLMConfig(
                model=settings["model"],
                model_endpoint_type="openai",
                context_window=window,
                model_endpoint=settings["base_url"],
                handle=f"openai/{settings['model']}",
                **tuning,
            ),
            embedding_config=_EmbeddingConfig(
                embedding_model=embedder,
                embedding_endpoint_type="openai",
                embedding_dim=size,
                embedding_endpoint=settings["base_url"],
            ),
        )
        self.agents = _AgentManager()
        agent = _loop.run(self._begin(request, os.path.join(folder, "letta.db")))
        self.configuration = {
            "embedder": embedder,
            "embedding_size": size,
            "database": "sqlite, local file",
            "agent_type": agent.agent_type.value,
            "context_window": window,
            "tools": sorted(tool.name for tool in agent.tools),
            "temperature": tuning.get("temperature", "library default"),
        }

    def _limits(self, settings: dict[str, Any], label: str) -> dict[str, Any]:
        """Each block shows the agent its share of a budget, after its usual description.

        This Letta shows the limit and does not enforce it, and passages have none.
        """
        budget = settings["options"].get("budget")
        if budget is None:
            return {}
        limit = max(1, int(budget) * CHARACTERS_PER_WORD // len(self.given))
        described = f"{_described[label]} {settings['budget_text']}"
        return {"limit": limit, "description": described}

    async def _begin(self, request: Any, path: str) -> Any:
        self.engine = _asyncio_engine.create_async_engine(f"sqlite+aiosqlite:///{path}")
        _database.engine = self.engine
        _database.async_session_factory = _asyncio_engine.async_sessionmaker(
            self.engine, expire_on_commit=False, autoflush=False
        )
        _date_rows_in_python()
        async with self.engine.begin() as connection:
            await connection.run_sync(_tables.create_all)
        await _Organizations().create_default_organization_async()
        self.actor = await _Users().create_default_actor_async()
        await _Tools().upsert_base_tools_async(actor=self.actor)
        agent = await self.agents.create_agent_async(request, actor=self.actor)
        self.agent = agent.id
        return agent

    def feed(self, messages: list[dict[str, Any]]) -> None:
        """One step of the agent, with messages of both roles."""
        _loop.run(
            self._turn(
                [_Message(role=message["role"], content=message["content"]) for message in messages]
            )
        )

    async def _turn(self, messages: list[Any]) -> None:
        run = await _Runs().create_run(pydantic_run=_Run(agent_id=self.agent), actor=self.actor)
        state = await self.agents.get_agent_by_id_async(self.agent, self.actor)
        agent = _load(state, self.actor)
        agent.step_manager.record_step_metrics_async = _no_timing
        try:
            answer = await agent.step(messages, max_steps=self.steps, run_id=run.id)
        finally:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*others, return_exceptions=True)  # its background work
        reason = answer.stop_reason.stop_reason
        if reason.run_status.value != "completed":
            raise RuntimeError(f"the agent's turn ended with {reason.value}")
        for failure in _failures(answer.messages):
            raise RuntimeError(failure)

    def rows(self) -> list[dict[str, Any]]:
        """Blocks that the agent has changed, then all passages. The default limit is 50."""
        return _loop.run(self._rows())

    async def _rows(self) -> list[dict[str, Any]]:
        state = await self.agents.get_agent_by_id_async(self.agent, self.actor)
        blocks = [
            block.model_dump(mode="json")
            for block in state.memory.blocks
            if block.value.strip() != self.given.get(block.label, "").strip()
        ]
        stored = await self.agents.query_agent_passages_async(
            actor=self.actor, agent_id=self.agent, limit=EVERYTHING
        )
        passages = [
            passage.model_dump(mode="json", exclude={"embedding"}) for passage, *_ in stored
        ]
        return [
            {"id": row["id"], "text": row[text], "export": row}
            for text, rows in (("value", blocks), ("text", passages))
            for row in rows
        ]

    def close(self) -> None:
        _loop.run(self.engine.dispose())


def _date_rows_in_python() -> None:
    """Columns that the database would date are dated here: it knows only today's clock, and reads
    Postgres's default as the text "now()"."""
    for table in _tables.tables.values():
        for column in table.columns:
            default = column.server_default
            if getattr(default, "arg", None) == "now()" or "now()" in str(
                getattr(default, "arg", "")
            ):
                column.server_default = None
                _set_default(column, for_update=False)
                if column.server_onupdate is not None or column.onupdate is not None:
                    column.server_onupdate = None
                    _set_default(column, for_update=True)


def _set_default(column: Any, for_update: bool) -> None:
    made = _sqlalchemy.ColumnDefault(lambda: datetime.now(UTC), for_update=for_update)
    made._set_parent_with_dispatch(column)


async def _no_timing(**_: Any) -> None:
    """Letta records the time of a step twice; the second write fails and logs an error."""


def _failures(messages: list[Any]) -> list[str]:
    """Errors of tools, without mistakes of the model."""
    lines = [
        line
        for message in messages
        for returned in getattr(message, "tool_returns", None) or []
        for line in returned.stderr or []
    ]
    named = [re.match(r"Error executing function (\w+): (\w+)", line) for line in lines]
    return [
        line
        for line, match in zip(lines, named, strict=True)
        if match is None or match[1] in ARCHIVAL_TOOLS or match[2] not in MODEL_ERRORS
    ]

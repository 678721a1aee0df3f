"""Graphiti (graphiti-core): one episode per message, the entity edges at the end; Kuzu in a folder.

This Graphiti creates Kuzu's full-text indices only when its graph operations are asked to, and
knows no group but the default one there.
"""

import asyncio
import importlib
import os
import warnings
from datetime import UTC, datetime
from typing import Any


def _graphiti(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"graphiti_core.{module}"), name)


_Graphiti = _graphiti("graphiti", "Graphiti")
_KuzuDriver = _graphiti("driver.kuzu_driver", "KuzuDriver")
_LLMConfig = _graphiti("llm_client.config", "LLMConfig")
_Model = _graphiti("llm_client.openai_generic_client", "OpenAIGenericClient")
_Embedder = _graphiti("embedder.openai", "OpenAIEmbedder")
_EmbedderConfig = _graphiti("embedder.openai", "OpenAIEmbedderConfig")
_Reranker = _graphiti("cross_encoder.openai_reranker_client", "OpenAIRerankerClient")
_Edge = _graphiti("edges", "EntityEdge")
_NoEdges = _graphiti("errors", "GroupsEdgesNotFoundError")
_source = _graphiti("nodes", "EpisodeType").message

DISTRIBUTIONS = ("graphiti-core", "kuzu", "openai")
OPTIONS = {
    "budget",
    "custom_extraction_instructions",
    "max_tokens",
    "structured_output_mode",
    "temperature",
}
GROUP = ""
"""The default group of Kuzu."""
SHOWN = ("fact", "valid_at", "invalid_at", "expired_at")
"""The fields that define a fact; the episodes that repeat it do not."""

warnings.filterwarnings("ignore", "The Kuzu backend is deprecated", DeprecationWarning)
_loop = asyncio.Runner()


class System:
    def __init__(self, settings: dict[str, Any], folder: str) -> None:
        options = settings["options"]
        address = {"base_url": settings["base_url"], "api_key": settings["api_key"]}
        embedder = settings["embedder"] or "text-embedding-3-small"
        tuning = {name: options[name] for name in ("temperature",) if name in options}
        asking = {
            name: options[name]
            for name in ("max_tokens", "structured_output_mode")
            if name in options
        }
        config = _LLMConfig(
            model=settings["model"], small_model=settings["model"], **address, **tuning
        )
        model = _Model(config, **asking)
        told = [options.get("custom_extraction_instructions"), settings["budget_text"]]
        self.instructions = "\n".join(filter(None, told)) or None
        self.order: dict[str, int] = {}  # facts of one message have nearly the same time
        self.driver = _KuzuDriver(os.path.join(folder, "kuzu"))
        self.graphiti = _Graphiti(
            graph_driver=self.driver,
            llm_client=model,
            cross_encoder=_Reranker(config),
            embedder=_Embedder(_EmbedderConfig(embedding_model=embedder, **address)),
        )
        _loop.run(self.driver.graph_ops.build_indices_and_constraints(self.driver))
        self.configuration = {
            "embedder": embedder,
            "database": "Kuzu, local folder",
            "temperature": model.temperature,
            "max_tokens": model.max_tokens,
            "structured_output_mode": model.structured_output_mode,
        }

    def feed(self, messages: list[dict[str, Any]]) -> None:
        """One episode, at the time of its first message."""
        when, read = _time(messages[0]["time"])
        said = [message["dialogue"] if read else message["content"] for message in messages]
        added = _loop.run(
            self.graphiti.add_episode(
                name="message",
                source=_source,
                source_description="a conversation",
                episode_body="\n".join(said),
                reference_time=when,
                custom_extraction_instructions=self.instructions,
            )
        )
        for edge in added.edges:
            self.order.setdefault(edge.uuid, len(self.order))

    def rows(self) -> list[dict[str, Any]]:
        """All entity edges, those that ended too."""
        try:
            edges = _loop.run(_Edge.get_by_group_ids(self.driver, [GROUP]))
        except _NoEdges:
            return []
        edges.sort(key=lambda edge: (self.order.get(edge.uuid, len(self.order)), edge.created_at))
        rows = [edge.model_dump(mode="json", exclude={"fact_embedding"}) for edge in edges]
        return [
            {"id": row["uuid"], "text": repr([row[name] for name in SHOWN]), "export": row}
            for row in rows
        ]

    def close(self) -> None:
        """Release the folder; Graphiti leaves it to the garbage collector."""
        self.driver.client.close()
        self.driver.db.close()


def _time(compact: str | None) -> tuple[datetime, bool]:
    """The time of an episode, which Graphiti requires, and whether it is the message's."""
    try:
        return datetime.strptime(compact or "", "%Y%m%d%H%M").replace(tzinfo=UTC), True
    except ValueError:
        return datetime.now(UTC), compact is None

"""cognee: `add` and `cognify` for every message, the graph at the end; all databases in a folder.

Of the graph, entities with their descriptions and relations between entities are read. The chunks
are the messages themselves, and summaries repeat them.
"""

import asyncio
import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

_litellm = importlib.util.find_spec("litellm")
if _litellm is not None and _litellm.origin is not None:
    # Tokenizers are looked up in what litellm brings along, not on the network.
    brought = Path(_litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(brought)

_cognee: Any = importlib.import_module("cognee")
_get_graph_engine: Any = importlib.import_module(
    "cognee.infrastructure.databases.graph"
).get_graph_engine
_OpenAI: Any = importlib.import_module("openai").OpenAI

DISTRIBUTIONS = ("cognee", "ladybug", "lancedb", "litellm", "openai")
OPTIONS = {"custom_prompt", "temperature"}
DATASET = "conversation"

_loop = asyncio.Runner()


class System:
    def __init__(self, settings: dict[str, Any], folder: str) -> None:
        options = settings["options"]
        embedder = settings["embedder"] or "text-embedding-3-small"
        probe = _OpenAI(base_url=settings["base_url"], api_key=settings["api_key"])
        answer = probe.embeddings.create(input=["memory"], model=embedder, encoding_format="float")
        size = len(answer.data[0].embedding)
        _cognee.config.system_root_directory(os.path.join(folder, "system"))
        _cognee.config.data_root_directory(os.path.join(folder, "data"))
        tuning = {"llm_temperature": options["temperature"]} if "temperature" in options else {}
        _cognee.config.set_llm_config(
            {
                "llm_provider": "custom",
                "llm_model": f"openai/{settings['model']}",
                "llm_endpoint": settings["base_url"],
                "llm_api_key": settings["api_key"],
                **tuning,
            }
        )
        _cognee.config.set_embedding_config(
            {
                "embedding_provider": "openai_compatible",
                "embedding_model": embedder,
                "embedding_endpoint": settings["base_url"],
                "embedding_api_key": settings["api_key"],
                "embedding_dimensions": size,
            }
        )
        self.prompt = options.get("custom_prompt")
        self.configuration = {
            "embedder": embedder,
            "embedding_size": size,
            "database": "Ladybug, LanceDB and SQLite, local folder",
            "temperature": tuning.get("llm_temperature", "library default"),
        }

    def feed(self, messages: list[dict[str, Any]]) -> None:
        """One document."""
        _loop.run(self._add("\n".join(message["content"] for message in messages)))

    async def _add(self, text: str) -> None:
        await _cognee.add(text, dataset_name=DATASET)
        await _cognee.cognify(datasets=[DATASET], custom_prompt=self.prompt)

    def rows(self) -> list[dict[str, Any]]:
        """Entities that are described, then relations between two entities."""
        return _loop.run(self._rows())

    async def _rows(self) -> list[dict[str, Any]]:
        nodes, edges = await (await _get_graph_engine()).get_graph_data()
        entities = {id: node for id, node in nodes if node.get("type") == "Entity"}
        rows = [
            {"id": id, "kind": "entity", "text": f"{node['name']}: {node['description']}"}
            for id, node in entities.items()
            if node.get("description")
        ]
        rows += [
            {
                "id": f"{source} {name} {target}",
                "kind": "relation",
                "relation": name,
                "text": edge.get("edge_text")
                or f"{entities[source]['name']} {name} {entities[target]['name']}",
            }
            for source, target, name, edge in edges
            if source in entities and target in entities
        ]
        return [{"id": row["id"], "text": row["text"], "export": row} for row in rows]

    def close(self) -> None:
        """The engines of a folder are closed when those of the next take their place."""

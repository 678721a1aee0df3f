"""Mem0 (mem0ai): `add` for every message, `get_all` at the end; qdrant in a folder."""

import os
from typing import Any

from mem0 import Memory  # type: ignore[import-not-found,unused-ignore]
from openai import OpenAI  # type: ignore[import-not-found,unused-ignore]

DISTRIBUTIONS = ("mem0ai", "qdrant-client", "openai")
OPTIONS = {"budget", "custom_instructions", "infer", "max_tokens", "temperature"}
OWNER = "user"
DEFAULTS = {"memories_shown": 10, "last_messages_shown": 10, "updates": False, "deletes": False}
"""What this version's `add` does and gives no setting for."""
EVERYTHING = 1_000_000


class System:
    def __init__(self, settings: dict[str, Any], folder: str) -> None:
        options = settings["options"]
        address = {"openai_base_url": settings["base_url"], "api_key": settings["api_key"]}
        embedder = settings["embedder"] or "text-embedding-3-small"
        probe = OpenAI(base_url=settings["base_url"], api_key=settings["api_key"])
        answer = probe.embeddings.create(input=["memory"], model=embedder, encoding_format="float")
        size = len(answer.data[0].embedding)
        tuning = {name: options[name] for name in ("temperature", "max_tokens") if name in options}
        self.configuration = {
            "embedder": embedder,
            "embedding_size": size,
            "vector_store": "qdrant, local folder",
            "temperature": tuning.get("temperature", "library default"),
            **DEFAULTS,
        }
        config: dict[str, Any] = {
            "llm": {
                "provider": "openai",
                "config": {"model": settings["model"], **address, **tuning},
            },
            "embedder": {"provider": "openai", "config": {"model": embedder, **address}},
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "collection_name": "memories",
                    "embedding_model_dims": size,
                    "on_disk": True,
                    "path": os.path.join(folder, "qdrant"),
                },
            },
            "history_db_path": os.path.join(folder, "history.db"),
        }
        told = [options.get("custom_instructions"), settings["budget_text"]]
        if any(told):
            config["custom_instructions"] = "\n".join(filter(None, told))
        self.infer = options.get("infer", True)
        self.memory = Memory.from_config(config)

    def feed(self, messages: list[dict[str, Any]]) -> None:
        """One call; Mem0 decides what to remember."""
        turns = [{"role": message["role"], "content": message["content"]} for message in messages]
        self.memory.add(turns, user_id=OWNER, infer=self.infer)

    def rows(self) -> list[dict[str, Any]]:
        """All memories. The default of top_k is 20."""
        memories = self.memory.get_all(
            filters={"user_id": OWNER}, top_k=EVERYTHING, show_expired=True
        )["results"]
        # qdrant lists by id, which is random; Mem0 dates every memory when it writes it.
        memories.sort(key=lambda row: row.get("created_at") or "")
        return [{"id": str(row["id"]), "text": row["memory"], "export": row} for row in memories]

    def close(self) -> None:
        """Release the lock of the folder."""
        self.memory.vector_store.client.close()
        self.memory.close()

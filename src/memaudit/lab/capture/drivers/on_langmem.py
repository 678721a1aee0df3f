"""LangMem: its store manager over a LangGraph in-memory store."""

import inspect
import json
from typing import Any

from langchain_openai import (  # type: ignore[import-not-found,unused-ignore]
    ChatOpenAI,
    OpenAIEmbeddings,
)
from langgraph.store.memory import InMemoryStore  # type: ignore[import-not-found,unused-ignore]
from langmem import create_memory_store_manager  # type: ignore[import-not-found,unused-ignore]

DISTRIBUTIONS = ("langmem", "langgraph", "trustcall", "langchain-core", "langchain-openai")
OPTIONS = {
    "budget",
    "enable_deletes",
    "enable_inserts",
    "instructions",
    "query_limit",
    "temperature",
}
NAMESPACE = ("memories",)
EVERYTHING = 1_000_000


class System:
    def __init__(self, settings: dict[str, Any], folder: str) -> None:  # noqa: ARG002
        options = dict(settings["options"])
        address = {"base_url": settings["base_url"], "api_key": settings["api_key"]}
        temperature = options.pop("temperature", 0)
        options.pop("budget", None)
        if settings["budget_text"]:
            own = inspect.signature(create_memory_store_manager).parameters["instructions"]
            told = options.get("instructions", own.default)
            options["instructions"] = f"{told}\n\n{settings['budget_text']}"
        model = ChatOpenAI(model=settings["model"], temperature=temperature, **address)
        usual = inspect.signature(create_memory_store_manager).parameters
        matters = {
            "memories_shown": "query_limit",
            "inserts": "enable_inserts",
            "deletes": "enable_deletes",
        }
        self.configuration = {
            "embedder": settings["embedder"],
            "temperature": temperature,
            "vector_store": "LangGraph InMemoryStore",
            **{name: options.get(own, usual[own].default) for name, own in matters.items()},
        }
        index = None
        if settings["embedder"]:
            # Counting tokens before embedding would download a tokenizer.
            embeddings = OpenAIEmbeddings(
                model=settings["embedder"], check_embedding_ctx_length=False, **address
            )
            size = len(embeddings.embed_query("memory"))
            index = {"dims": size, "embed": embeddings}
            self.configuration["embedding_size"] = size
        self.store = InMemoryStore(index=index)
        self.order: dict[str, int] = {}  # its threads date the memories of one message at random
        self.manager = create_memory_store_manager(
            model, namespace=NAMESPACE, store=self.store, **options
        )

    def feed(self, messages: list[dict[str, Any]]) -> None:
        """One call. The manager writes in threads, one at a time here so that a run can be
        repeated, and drops their failures."""
        turns = [{"role": message["role"], "content": message["content"]} for message in messages]
        puts = self.manager.invoke({"messages": turns}, config={"max_concurrency": 1})
        for put in puts:
            self.order.setdefault(put["key"], len(self.order))
            item = self.store.get(put["namespace"], put["key"])
            if item is None or item.value != put["value"]:
                raise RuntimeError("LangMem wrote a memory that did not reach its store")

    def rows(self) -> list[dict[str, Any]]:
        """All items. The default limit is 10."""
        stored = self.store.search(NAMESPACE, limit=EVERYTHING)
        stored.sort(key=lambda item: (self.order.get(item.key, len(self.order)), item.created_at))
        items = [item.dict() for item in stored]
        return [
            {
                "id": "/".join([*item["namespace"], item["key"]]),
                "export": item,
                "text": json.dumps(item["value"], sort_keys=True, default=str),
            }
            for item in items
        ]

    def close(self) -> None:
        """Nothing is kept outside this object."""

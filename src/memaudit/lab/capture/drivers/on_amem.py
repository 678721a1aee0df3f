"""A-Mem (a-mem): `add_note` for every message, the Chroma collection at the end."""

import importlib
import importlib.util
import inspect
import json
import os
import sys
import types
from typing import Any

UNUSED = {
    "litellm": ("completion",),
    "nltk": (),
    "nltk.tokenize": ("word_tokenize",),
    "rank_bm25": ("BM25Okapi",),
    "sentence_transformers": ("SentenceTransformer",),
    "sklearn": (),
    "sklearn.metrics": (),
    "sklearn.metrics.pairwise": ("cosine_similarity",),
    "transformers": ("AutoModel", "AutoTokenizer"),
}
"""Imported by a-mem but never called with an OpenAI-compatible model and embedder."""


class _StandIn(types.ModuleType):
    def __init__(self, name: str, members: tuple[str, ...]) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        for member in members:
            setattr(self, member, None)


def _stand_in() -> None:
    """Replace the unused imports of a-mem that are not installed: they are two gigabytes."""
    tops = {name.partition(".")[0] for name in UNUSED}
    absent = {top for top in tops if importlib.util.find_spec(top) is None}
    for name, members in UNUSED.items():
        if name.partition(".")[0] in absent:
            sys.modules[name] = _StandIn(name, members)


_stand_in()
_retrievers: Any = importlib.import_module("agentic_memory.retrievers")
_memory_system = importlib.import_module("agentic_memory.memory_system")
_chroma = importlib.import_module("chromadb.utils.embedding_functions")
_OWN_EMBEDDING = _retrievers.SentenceTransformerEmbeddingFunction

DISTRIBUTIONS = ("a-mem", "chromadb", "openai")
OPTIONS = {"evo_threshold", "sentence_model"}
LISTS = ("keywords", "links", "tags", "evolution_history")
SHOWN = ("content", "context", "keywords", "tags", "links", "category")
"""The fields that define a note; access times and counters do not."""


class System:
    def __init__(self, settings: dict[str, Any], folder: str) -> None:
        options = settings["options"]
        os.environ["OPENAI_BASE_URL"] = settings["base_url"]
        own = options.get("sentence_model", "all-MiniLM-L6-v2")
        embedder = settings["embedder"]
        if embedder:
            # A-Mem only knows sentence-transformers; Chroma's own class asks a server instead.
            _retrievers.SentenceTransformerEmbeddingFunction = lambda **_: (
                _chroma.OpenAIEmbeddingFunction(
                    api_key=settings["api_key"], model_name=embedder, api_base=settings["base_url"]
                )
            )
        else:
            _retrievers.SentenceTransformerEmbeddingFunction = _OWN_EMBEDDING
        self.configuration = {
            "embedder": embedder or f"sentence-transformers {own}",
            "temperature": "library default",
            "vector_store": "chroma, local folder",
            "stand_ins": sorted(name for name in UNUSED if isinstance(sys.modules[name], _StandIn)),
        }
        related = inspect.signature(_memory_system.AgenticMemorySystem.find_related_memories)
        self.configuration["memories_shown"] = related.parameters["k"].default
        tuning = {"evo_threshold": options["evo_threshold"]} if "evo_threshold" in options else {}
        self.system = _memory_system.AgenticMemorySystem(
            model_name=own,
            llm_backend="openai",
            llm_model=settings["model"],
            api_key=settings["api_key"],
            storage_path=os.path.join(folder, "chroma"),
            **tuning,
        )

    def feed(self, messages: list[dict[str, Any]]) -> None:
        """One note, in which everybody speaks by name or role; the time of its first message goes
        into A-Mem's own field."""
        text = "\n".join(message["dialogue"] for message in messages)
        self.system.add_note(text, time=messages[0]["time"])

    def rows(self) -> list[dict[str, Any]]:
        """All notes of the Chroma collection."""
        collection = self.system.retriever.collection.get()
        notes = [_note(metadata) for metadata in collection["metadatas"] or []]
        return [
            {
                "id": note["id"],
                "export": note,
                "text": json.dumps([note.get(name) for name in SHOWN], sort_keys=True),
            }
            for note in notes
        ]

    def close(self) -> None:
        """Chroma closes its files when the process ends."""


def _note(metadata: dict[str, Any]) -> dict[str, Any]:
    """The note of a row; Chroma stores lists as JSON text."""
    note = {name: metadata[name] for name in sorted(metadata) if name != "enhanced_content"}
    for name in LISTS:
        if isinstance(note.get(name), str):
            note[name] = json.loads(note[name])
    return note

"""Nearest neighbours: the cosine of embeddings."""

from collections.abc import Sequence

from memaudit.downstream.embedders.protocol import Embedder
from memaudit.downstream.memory import StoredMemory
from memaudit.downstream.question import Question
from memaudit.downstream.retrievers.protocol import Ranking, best


class Dense:
    """Ranks by the cosine between question and memory; what points the other way is not found."""

    peeks = False

    def __init__(self, embedder: Embedder, name: str = "dense") -> None:
        self.name = name
        self.about = f"cosine of embeddings, {embedder.name}"
        self._embedder = embedder

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[Question], k: int
    ) -> list[Ranking]:
        if not memories or not questions:
            return [() for _ in questions]
        texts = [memory.text for memory in memories]
        vectors = self._embedder.embed([*texts, *(question.text for question in questions)])
        near = vectors[len(texts) :] @ vectors[: len(texts)].T
        return [best(memories, list(row), k) for row in near]

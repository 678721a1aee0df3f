"""Reciprocal rank fusion: two rankings in one, whatever their scores mean."""

from collections.abc import Sequence

from memaudit.downstream.memory import StoredMemory
from memaudit.downstream.question import Question
from memaudit.downstream.retrievers.protocol import Ranking, Retriever, best

DAMPING = 60
"""A memory at rank r of a ranking gets 1 / (60 + r) from it."""

DEPTH = 5
"""Each ranking is read to this many times k."""

SCALE = 1000
"""Keeps neighbouring ranks apart where scores are rounded."""


class Hybrid:
    """Ranks by the sum of 1 / (60 + rank) over its parts."""

    peeks = False

    def __init__(self, parts: Sequence[Retriever], name: str = "hybrid") -> None:
        self.name = name
        self.about = f"reciprocal rank fusion of {' and '.join(part.name for part in parts)}"
        self._parts = tuple(parts)

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[Question], k: int
    ) -> list[Ranking]:
        rankings = [part.rank(memories, questions, DEPTH * k) for part in self._parts]
        return [
            self._fused(memories, [ranking[at] for ranking in rankings], k)
            for at in range(len(questions))
        ]

    @staticmethod
    def _fused(memories: Sequence[StoredMemory], rankings: Sequence[Ranking], k: int) -> Ranking:
        points = {memory.id: 0.0 for memory in memories}
        for ranking in rankings:
            for rank, id in enumerate(ranking, start=1):
                points[id] += SCALE / (DAMPING + rank)
        return best(memories, list(points.values()), k)

"""What a retriever takes and gives, and how scores become a ranking."""

from collections.abc import Sequence
from typing import Protocol

from memaudit.downstream.memory import StoredMemory
from memaudit.downstream.question import Question

Ranking = tuple[str, ...]
"""Ids of the memories found, best first, at most k; what has nothing to do with it is not found."""

DIGITS = 6
"""Scores are rounded to this many digits: what lies below differs between machines."""


class Retriever(Protocol):
    """Finds memories of one store for questions."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """One line: how it ranks."""
        ...

    @property
    def peeks(self) -> bool:
        """Whether it looks at more than texts and their order."""
        ...

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[Question], k: int
    ) -> list[Ranking]:
        """One ranking a question; memories come in order of writing, which decides ties."""
        ...


def best(memories: Sequence[StoredMemory], scores: Sequence[float], k: int) -> Ranking:
    """The k best of those with a score above 0; of equals, the one written first."""
    rounded = [round(float(score), DIGITS) for score in scores]
    order = sorted((at for at in range(len(memories)) if rounded[at] > 0),
                   key=lambda at: -rounded[at])  # fmt: skip
    return tuple(memories[at].id for at in order[:k])

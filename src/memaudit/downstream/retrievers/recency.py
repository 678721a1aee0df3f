"""The newest memories, whatever is asked."""

from collections.abc import Sequence

from memaudit.downstream.memory import StoredMemory
from memaudit.downstream.question import Question
from memaudit.downstream.retrievers.protocol import Ranking


class Recency:
    """The last k written, newest first."""

    name = "recency"
    about = "the newest memories, whatever is asked"
    peeks = False

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[Question], k: int
    ) -> list[Ranking]:
        newest = tuple(memory.id for memory in reversed(memories))[:k]
        return [newest for _ in questions]

"""A retriever whose rankings can be told in advance."""

from collections.abc import Sequence

from memaudit.lab.downstream.question import PackageQuestion, StoredMemory
from memaudit.lab.downstream.retrievers import Ranking


class Newest:
    """The last k written, newest first."""

    name = "newest"
    about = "the newest memories, whatever is asked"
    peeks = False

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[PackageQuestion], k: int
    ) -> list[Ranking]:
        newest = tuple(memory.id for memory in reversed(memories))[:k]
        return [newest for _ in questions]

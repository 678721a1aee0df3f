"""The reader that makes no mistakes: right exactly where the evidence is there."""

from collections.abc import Sequence
from fractions import Fraction

from memaudit.downstream.memory import StoredMemory
from memaudit.downstream.readers.protocol import Asked, Reply, State


class EvidenceOnly:
    """Gives the gold answer if the retrieved memories cover all that it needs, else abstains."""

    name = "evidence-only"
    about = "right where the retrieved memories cover every unit the answer needs, else abstains"
    peeks = True
    asks_a_model = False

    def read(self, asked: Sequence[Asked]) -> list[Reply]:
        return [self._answer(one) for one in asked]

    @staticmethod
    def _answer(asked: Asked) -> Reply:
        question = asked.question
        used = tuple(
            memory.id
            for memory in asked.memories
            if any(memory.covers.get(unit) for unit in question.supports)
        )
        if question.abstention:
            return Reply(State.ABSTAINED, used=used)
        supported = question.supports and all(
            _covered(asked.memories, unit) >= question.needs[unit] for unit in question.supports
        )
        if not supported:
            return Reply(State.ABSTAINED, used=used)
        return Reply(State.ANSWERED, question.gold or "", used, knows=True)


def _covered(memories: Sequence[StoredMemory], unit: str) -> Fraction:
    return sum((memory.covers.get(unit, Fraction(0)) for memory in memories), Fraction(0))

"""The baseline that needs no model: the sentence that shares most with the question."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from memaudit.core.text import sentences, terms
from memaudit.downstream.readers.protocol import Asked, Reply, State

LEAST = Fraction(1, 3)
"""It abstains where the best sentence has less than this share of the question's terms."""


class Extractive:
    """Answers with one sentence word for word; of equals, that of the memory ranked first."""

    name = "extractive"
    about = "the retrieved sentence with most terms of the question; abstains below a third"
    peeks = False
    asks_a_model = False

    def read(self, asked: Sequence[Asked]) -> list[Reply]:
        return [self._answer(one) for one in asked]

    @staticmethod
    def _answer(asked: Asked) -> Reply:
        wanted = terms(asked.question.text)
        best, answer, source = Fraction(0), "", ""
        for id, sentence in _sentences(asked):
            shared = Fraction(len(wanted & terms(sentence)), max(1, len(wanted)))
            if shared > best:
                best, answer, source = shared, sentence, id
        if best < LEAST:
            return Reply(State.ABSTAINED)
        return Reply(State.ANSWERED, answer, (source,))


def _sentences(asked: Asked) -> Iterator[tuple[str, str]]:
    for memory in asked.memories:
        for sentence in sentences(memory.text):
            yield memory.id, sentence

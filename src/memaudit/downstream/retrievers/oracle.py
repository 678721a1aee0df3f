"""The oracle: looks at coverage, and finds what the question requires."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from memaudit.downstream.memory import StoredMemory
from memaudit.downstream.question import Question
from memaudit.downstream.retrievers.protocol import Ranking


class Oracle:
    """Takes the memory that adds most of what is still missing, until nothing is or k are taken.

    What an answer needs goes before what is required beside it. With k as large as the number of
    memories that cover anything required, it misses nothing; below that it is a greedy reference,
    not proven to be the best choice of k.
    """

    name = "oracle"
    about = "by what memories cover of the required units, most still missing first"
    peeks = True

    def rank(
        self, memories: Sequence[StoredMemory], questions: Sequence[Question], k: int
    ) -> list[Ranking]:
        return [_chosen(memories, question, k) for question in questions]


def _chosen(memories: Sequence[StoredMemory], question: Question, k: int) -> Ranking:
    missing = dict(question.needs)
    left = [memory for memory in memories if any(memory.covers.get(unit) for unit in missing)]
    taken: list[str] = []

    def adds(memory: StoredMemory) -> tuple[Fraction, Fraction]:
        needed = {unit: missing[unit] for unit in question.needs if unit in question.supports}
        return _adds(memory, needed), _adds(memory, missing)

    while left and len(taken) < k:
        # The first of equals: `max` keeps the one written first.
        found = max(left, key=adds)
        if not _adds(found, missing):
            break
        for unit in missing:
            missing[unit] = max(Fraction(0), missing[unit] - found.covers.get(unit, Fraction(0)))
        taken.append(found.id)
        left.remove(found)
    return tuple(taken)


def _adds(memory: StoredMemory, missing: Mapping[str, Fraction]) -> Fraction:
    shares = (min(missing[unit], memory.covers.get(unit, Fraction(0))) for unit in missing)
    return sum(shares, Fraction(0))

"""Readers without a model: right where the evidence is retrieved, or the best sentence."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from memaudit.core.text import sentences, terms
from memaudit.downstream.kept_store import StoredMemory
from memaudit.downstream.readers.protocol import ReaderReply, ReadingTask, ReplyState


class EvidenceOnly:
    """Gives the gold answer if the retrieved memories cover all that it needs, else abstains."""

    name = "evidence-only"
    about = "right where the retrieved memories cover every unit the answer needs, else abstains"
    peeks = True
    asks_a_model = False

    def read(self, tasks: Sequence[ReadingTask]) -> list[ReaderReply]:
        return [self._answer(task) for task in tasks]

    @staticmethod
    def _answer(task: ReadingTask) -> ReaderReply:
        question = task.question
        used = tuple(
            memory.id
            for memory in task.memories
            if any(memory.covers.get(unit) for unit in question.supports)
        )
        if question.abstention:
            return ReaderReply(ReplyState.ABSTAINED, used=used)
        supported = question.supports and all(
            _covered(task.memories, unit) >= question.needs[unit] for unit in question.supports
        )
        if not supported:
            return ReaderReply(ReplyState.ABSTAINED, used=used)
        return ReaderReply(ReplyState.ANSWERED, question.gold or "", used, knows=True)


def _covered(memories: Sequence[StoredMemory], unit: str) -> Fraction:
    return sum((memory.covers.get(unit, Fraction(0)) for memory in memories), Fraction(0))


LEAST = Fraction(1, 3)
"""It abstains where the best sentence has less than this share of the question's terms."""


class Extractive:
    """Answers with one sentence, verbatim. Of equals, that of the memory ranked first."""

    name = "extractive"
    about = "the retrieved sentence with most terms of the question; abstains below a third"
    peeks = False
    asks_a_model = False

    def read(self, tasks: Sequence[ReadingTask]) -> list[ReaderReply]:
        return [self._answer(task) for task in tasks]

    @staticmethod
    def _answer(task: ReadingTask) -> ReaderReply:
        wanted = terms(task.question.text)
        best, answer, source = Fraction(0), "", ""
        for id, sentence in _sentences(task):
            shared = Fraction(len(wanted & terms(sentence)), max(1, len(wanted)))
            if shared > best:
                best, answer, source = shared, sentence, id
        if best < LEAST:
            return ReaderReply(ReplyState.ABSTAINED)
        return ReaderReply(ReplyState.ANSWERED, answer, (source,))


def _sentences(task: ReadingTask) -> Iterator[tuple[str, str]]:
    for memory in task.memories:
        for sentence in sentences(memory.text):
            yield memory.id, sentence

"""From a reader's reply to a verdict; what the verdict cannot say stands in the notes."""

from collections.abc import Sequence
from dataclasses import dataclass

from memaudit.core.text import terms
from memaudit.downstream.answers import Verdict, says_unknown, scored
from memaudit.downstream.holding import StoredMemory
from memaudit.downstream.question import Question
from memaudit.downstream.readers.protocol import Reply, State

NO_GOLD, NOT_SCORED = "no_gold_answer", "answer_cannot_be_scored"


@dataclass(frozen=True, slots=True)
class Graded:
    """A verdict, whether the reader abstained in so many words, and why it is unclear."""

    verdict: Verdict
    abstained: bool = False
    note: str = ""


def grade(question: Question, reply: Reply, retrieved: Sequence[StoredMemory]) -> Graded:
    """What a reply is worth."""
    if reply.state is State.REFUSED:
        # It gave no answer; that it abstained because nothing is known, nobody can say.
        return Graded(Verdict.UNCLEAR if question.abstention else Verdict.ABSTAINED)
    if reply.state in (State.UNPARSEABLE, State.NO_REPLY, State.EMPTY):
        return Graded(Verdict.UNCLEAR)
    answered = reply.state is State.ANSWERED
    if answered and (reply.knows or _is_gold(question, reply)):
        return Graded(Verdict.RIGHT)
    gone = question.abstention and bool(_covered(reply, retrieved) & question.supports)
    if not answered or says_unknown(reply.answer, gone):
        verdict = Verdict.RIGHT if question.abstention else Verdict.ABSTAINED
        return Graded(verdict, abstained=True)
    if is_stale(question, reply, retrieved):
        return Graded(Verdict.STALE)
    if question.abstention:
        return Graded(Verdict.WRONG)
    if question.gold is None:
        return Graded(Verdict.UNCLEAR, note=NO_GOLD)
    verdict = scored(reply.answer, question.gold, question.text)
    return Graded(verdict, note=NOT_SCORED if verdict is Verdict.UNCLEAR else "")


def _is_gold(question: Question, reply: Reply) -> bool:
    return (
        question.gold is not None
        and scored(reply.answer, question.gold, question.text) is Verdict.RIGHT
    )


def _covered(reply: Reply, retrieved: Sequence[StoredMemory]) -> set[str]:
    """What the memories cover that an answer used, or all retrieved ones where it names none."""
    used = [memory for memory in retrieved if memory.id in reply.used] or retrieved
    return {unit for memory in used for unit, value in memory.covers.items() if value}


def is_stale(question: Question, reply: Reply, retrieved: Sequence[StoredMemory]) -> bool:
    """Whether an answer that is not right was taken from what no longer holds.

    By coverage: the memories it used, or all that were retrieved where it names none, cover a
    stale unit of the question and nothing that supports its answer. By words: all that the answer
    adds to the question and to what holds is in such a unit, and not all of it in the gold answer.
    """
    if not question.stale:
        return False
    covered = _covered(reply, retrieved)
    if covered & question.stale.keys() and not covered & question.supports:
        return True
    added = terms(reply.answer) - terms(question.text)
    # Who a question of two steps goes by stands in old statements too.
    added -= {term for text in question.holds for term in terms(text)}
    if not added or added <= terms(question.gold or ""):
        return False
    return any(added <= terms(text) for text in question.stale.values())

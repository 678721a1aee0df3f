"""From a reader's reply to a verdict and to the numbers of one question.

Whether an answer says what the gold answer says is decided by its words (`answer-v4`). What is no
answer, what was taken from something that no longer holds, and questions without a gold answer or
whose right answer is to abstain are decided here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.package.cost import text_words
from memaudit.kernel.words.text import terms
from memaudit.lab.downstream.answer_readers import ReaderReply, ReplyState
from memaudit.lab.downstream.answers import (
    AnswerVerdict,
    exact_match,
    says_unknown,
    score_answer,
    token_f1,
)
from memaudit.lab.downstream.diagnosis_files import Outcome
from memaudit.lab.downstream.evidence_trace import UnitChain
from memaudit.lab.downstream.question import PackageQuestion, StoredMemory

NO_GOLD, NOT_SCORED = "no_gold_answer", "answer_cannot_be_scored"


@dataclass(frozen=True, slots=True)
class Grade:
    """A verdict, whether the reader abstained explicitly, and why the verdict is unclear."""

    verdict: AnswerVerdict
    abstained: bool = False
    note: str = ""


def grade(
    question: PackageQuestion, reply: ReaderReply, retrieved: Sequence[StoredMemory]
) -> Grade:
    """The verdict by the words, with what was retrieved in sight."""
    if reply.state is ReplyState.REFUSED:
        # It gave no answer. Whether it abstained because nothing is known cannot be decided.
        return Grade(AnswerVerdict.UNCLEAR if question.abstention else AnswerVerdict.ABSTAINED)
    if reply.state in (ReplyState.UNPARSEABLE, ReplyState.NO_REPLY, ReplyState.EMPTY):
        return Grade(AnswerVerdict.UNCLEAR)
    answered = reply.state is ReplyState.ANSWERED
    # Before abstention and staleness: a right answer may contain "not known" or an old value.
    if answered and (reply.knows or _is_gold(question, reply)):
        return Grade(AnswerVerdict.RIGHT)
    # "It was deleted" abstains only where the answer rests on the deletion itself; elsewhere a
    # deleted appointment may be the answer.
    gone = question.abstention and bool(_covered(reply, retrieved) & question.supports)
    if not answered or says_unknown(reply.answer, gone):
        verdict = AnswerVerdict.RIGHT if question.abstention else AnswerVerdict.ABSTAINED
        return Grade(verdict, abstained=True)
    if is_stale(question, reply, retrieved):
        return Grade(AnswerVerdict.STALE)
    if question.abstention:
        return Grade(AnswerVerdict.WRONG)
    if question.gold is None:
        return Grade(AnswerVerdict.UNCLEAR, note=NO_GOLD)
    verdict = score_answer(reply.answer, question.gold, question.text)
    return Grade(verdict, note=NOT_SCORED if verdict is AnswerVerdict.UNCLEAR else "")


def _is_gold(question: PackageQuestion, reply: ReaderReply) -> bool:
    return (
        question.gold is not None
        and score_answer(reply.answer, question.gold, question.text) is AnswerVerdict.RIGHT
    )


def _covered(reply: ReaderReply, retrieved: Sequence[StoredMemory]) -> set[str]:
    """What the memories that an answer used cover, or all retrieved ones where it names none."""
    used = [memory for memory in retrieved if memory.id in reply.used] or retrieved
    return {unit for memory in used for unit, value in memory.covers.items() if value}


def is_stale(
    question: PackageQuestion, reply: ReaderReply, retrieved: Sequence[StoredMemory]
) -> bool:
    """Whether an answer that is not right was taken from what no longer holds.

    By coverage: the memories it used, or all that were retrieved where it names none, cover a
    stale unit of the question and nothing that supports its answer. By words: all that the answer
    adds to the question and to what holds is in such a unit, and not all of it in the gold answer.
    """
    if not question.stale:
        return False
    covered = _covered(reply, retrieved)
    # With both in sight the words decide: memories that were used need not be what was said.
    if covered & question.stale.keys() and not covered & question.supports:
        return True
    added = terms(reply.answer) - terms(question.text)
    # A question of two steps goes through a person whom old statements name too.
    added -= {term for text in question.holds for term in terms(text)}
    # What is in the gold answer as well is not a sign of the old value.
    if not added or added <= terms(question.gold or ""):
        return False
    return any(added <= terms(text) for text in question.stale.values())


Measures = dict[str, Fraction | None]


def measures(
    question: PackageQuestion,
    chains: Sequence[UnitChain],
    retrieved: Sequence[StoredMemory],
    reply: ReaderReply,
    graded: Grade,
    outcome: Outcome,
) -> Measures:
    """The measures of one question, without the size of its store.

    A number that means nothing is None. It is counted and never averaged.
    """
    misleads = [
        bool(question.stale.keys() & _units_of(memory))
        and not question.supports & _units_of(memory)
        for memory in retrieved
    ]
    in_full = [Fraction(chain.retrieved >= chain.needs) for chain in chains]
    shares = [min(chain.retrieved / chain.needs, Fraction(1)) for chain in chains]
    replied = reply.state is not ReplyState.NO_REPLY
    return {
        "answered": Fraction(outcome is Outcome.RIGHT),
        "right": Fraction(graded.verdict is AnswerVerdict.RIGHT),
        "evidence_recall": _mean(in_full),
        "evidence_coverage": _mean(shares),
        "answer_in_evidence": _in_evidence(question, retrieved),
        "stale_retrieval": Fraction(any(misleads)) if question.stale else None,
        "stale_answer": Fraction(graded.verdict is AnswerVerdict.STALE) if question.stale else None,
        "words_retrieved": Fraction(sum(text_words(memory.text) for memory in retrieved)),
        **(_text(question, reply, graded) if replied else {"exact_match": None, "token_f1": None}),
    }


def _text(question: PackageQuestion, reply: ReaderReply, graded: Grade) -> Measures:
    """Against the gold answer. A reader that gave none scores 0."""
    if question.abstention and graded.abstained:
        return {"exact_match": Fraction(1), "token_f1": Fraction(1)}
    if question.gold is None:
        nothing = Fraction(0) if question.abstention else None
        return {"exact_match": nothing, "token_f1": nothing}
    answer = reply.answer if reply.state is ReplyState.ANSWERED else ""
    return {
        "exact_match": Fraction(exact_match(answer, question.gold)),
        "token_f1": token_f1(answer, question.gold),
    }


def _in_evidence(question: PackageQuestion, retrieved: Sequence[StoredMemory]) -> Fraction | None:
    """Whether a memory that covers any of the evidence says the answer."""
    if question.gold is None or question.abstention or not question.needs:
        return None
    return Fraction(
        any(
            score_answer(memory.text, question.gold, question.text) is AnswerVerdict.RIGHT
            for memory in retrieved
            if question.needs.keys() & _units_of(memory)
        )
    )


def _units_of(memory: StoredMemory) -> set[str]:
    return {unit for unit, value in memory.covers.items() if value}


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None

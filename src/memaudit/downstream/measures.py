"""Numbers of one question; None where a number means nothing, which is counted, never averaged."""

from collections.abc import Sequence
from fractions import Fraction

from memaudit.core.cost import words
from memaudit.downstream.answers import Verdict, exact_match, scored, token_f1
from memaudit.downstream.chain import UnitChain
from memaudit.downstream.grading import Graded
from memaudit.downstream.holding import StoredMemory
from memaudit.downstream.outcomes import Outcome
from memaudit.downstream.question import Question
from memaudit.downstream.readers.protocol import Reply, State

Measures = dict[str, Fraction | None]

ABOUT = {
    "answered": "1 where the outcome is answered_right",
    "right": "1 where the words are right, supported or not",
    "evidence_recall": "share of the required units that the k memories cover in full; undefined "
    "where none is required",
    "evidence_coverage": "the same with units covered in part counted in part: the mean share of a "
    "required unit that the k memories cover",
    "evidence_precision": "share of the retrieved memories that cover any of a required unit; "
    "undefined where nothing was retrieved or required",
    "answer_in_evidence": "1 where a retrieved memory that covers any of a required unit holds the "
    "gold answer, by answer-v2; undefined where none is required, without a gold answer, or where "
    "abstaining is right",
    "stale_retrieval": "1 where a retrieved memory covers a stale unit of the question and nothing "
    "that supports its answer; undefined where it has no stale unit",
    "stale_answer": "1 where the answer is taken from what no longer holds; undefined where the "
    "question has no stale unit",
    "words_retrieved": "words of the retrieved memories",
    "exact_match": "1 where the answer is the gold answer, or abstains where that is right; "
    "undefined without a gold answer or a reply",
    "token_f1": "token F1 with the gold answer, likewise",
    "abstention_precision": "of abstentions, 1 where it is right to abstain",
    "abstention_recall": "of questions that cannot be answered, 1 where the reader abstained",
    "words_kept": "words of everything the store keeps",
}
"""Every measure, in the order of tables."""


def measures(
    question: Question,
    found: Sequence[UnitChain],
    retrieved: Sequence[StoredMemory],
    reply: Reply,
    graded: Graded,
    outcome: Outcome,
) -> Measures:
    """All measures of one question but the size of its store."""
    helps = [bool(question.needs.keys() & _covered(memory)) for memory in retrieved]
    misleads = [
        bool(question.stale.keys() & _covered(memory)) and not question.supports & _covered(memory)
        for memory in retrieved
    ]
    whole = [chain.retrieved >= chain.needs for chain in found]
    heard = reply.state is not State.NO_REPLY
    return {
        "answered": Fraction(outcome is Outcome.RIGHT),
        "right": Fraction(graded.verdict is Verdict.RIGHT),
        "evidence_recall": _mean([Fraction(one) for one in whole]),
        "evidence_coverage": _mean([min(one.retrieved / one.needs, Fraction(1)) for one in found]),
        "evidence_precision": _mean([Fraction(one) for one in helps]) if question.needs else None,
        "answer_in_evidence": _in_evidence(question, retrieved),
        "stale_retrieval": Fraction(any(misleads)) if question.stale else None,
        "stale_answer": Fraction(graded.verdict is Verdict.STALE) if question.stale else None,
        "words_retrieved": Fraction(sum(words(memory.text) for memory in retrieved)),
        **(_text(question, reply, graded) if heard else {"exact_match": None, "token_f1": None}),
        "abstention_precision": Fraction(question.abstention) if graded.abstained else None,
        "abstention_recall": (
            Fraction(graded.abstained) if question.abstention and heard else None
        ),
    }


def _text(question: Question, reply: Reply, graded: Graded) -> Measures:
    """Against the gold answer; a reader that gave none scores 0."""
    if question.abstention and graded.abstained:
        return {"exact_match": Fraction(1), "token_f1": Fraction(1)}
    if question.gold is None:
        nothing = Fraction(0) if question.abstention else None
        return {"exact_match": nothing, "token_f1": nothing}
    answer = reply.answer if reply.state is State.ANSWERED else ""
    return {
        "exact_match": Fraction(exact_match(answer, question.gold)),
        "token_f1": token_f1(answer, question.gold),
    }


def _in_evidence(question: Question, retrieved: Sequence[StoredMemory]) -> Fraction | None:
    """Whether a memory about the evidence says the answer, however little of it that is."""
    if question.gold is None or question.abstention or not question.needs:
        return None
    return Fraction(
        any(
            scored(memory.text, question.gold, question.text) is Verdict.RIGHT
            for memory in retrieved
            if question.needs.keys() & _covered(memory)
        )
    )


def _covered(memory: StoredMemory) -> set[str]:
    return {unit for unit, value in memory.covers.items() if value}


def _mean(values: Sequence[Fraction]) -> Fraction | None:
    return sum(values, Fraction(0)) / len(values) if values else None

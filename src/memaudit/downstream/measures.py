"""Numbers of one question; None where a number means nothing, which is counted, never averaged."""

from collections.abc import Sequence
from fractions import Fraction

from memaudit.core.cost import words
from memaudit.downstream.answers import Verdict, exact_match, scored, token_f1
from memaudit.downstream.chain import UnitChain
from memaudit.downstream.grading import Graded
from memaudit.downstream.holding import StoredMemory
from memaudit.downstream.question import Question
from memaudit.downstream.readers.protocol import Reply, State
from memaudit.formats.diagnosis_files import Outcome

Measures = dict[str, Fraction | None]


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

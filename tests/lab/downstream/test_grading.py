"""Verdicts of replies, with what was retrieved in sight."""

import pytest

from memaudit.lab.downstream.answer_readers import ReaderReply, ReplyState
from memaudit.lab.downstream.answers import AnswerVerdict
from memaudit.lab.downstream.grading import grade
from tests.lab.downstream.small import ALL, ASKED, DOG, NOW, OLD, OPEN


def said(answer: str, *used: str) -> ReaderReply:
    """An answer."""
    return ReaderReply(ReplyState.ANSWERED, answer, used)


@pytest.mark.parametrize(
    ("question", "reply", "verdict", "abstained", "note"),
    [
        ("dog", said("Rex"), "right", False, ""),
        ("dog", said("Fido"), "wrong", False, ""),
        ("dog", ReaderReply(ReplyState.ABSTAINED), "abstained", True, ""),
        ("dog", said("That is not known."), "abstained", True, ""),
        ("dog", ReaderReply(ReplyState.REFUSED), "abstained", False, ""),
        ("dog", ReaderReply(ReplyState.UNPARSEABLE), "unclear", False, ""),
        ("dog", ReaderReply(ReplyState.NO_REPLY), "unclear", False, ""),
        ("dog", ReaderReply(ReplyState.EMPTY, " "), "unclear", False, ""),
        ("move", ReaderReply(ReplyState.ABSTAINED), "right", True, ""),
        ("move", said("Ann has not decided."), "right", True, ""),
        ("move", said("to Rome"), "wrong", False, ""),
        ("move", ReaderReply(ReplyState.REFUSED), "unclear", False, ""),
        ("sister", said("Eve"), "wrong", False, ""),
        ("book", said("a novel"), "right", False, ""),
        ("book", said("a great novel about Rome"), "right", False, ""),
    ],
)
def test_grades(
    question: str, reply: ReaderReply, verdict: str, abstained: bool, note: str
) -> None:
    """Each sort of reply to each sort of question."""
    found = grade(ASKED[question], reply, ALL)
    assert (found.verdict, found.abstained, found.note) == (AnswerVerdict(verdict), abstained, note)


def test_what_cannot_be_scored_says_so() -> None:
    """A part of the gold answer, and a package without one."""
    why = ASKED["dog"].__class__("w", "Why?", "", "cover for a leave", False, {}, {})
    assert grade(why, said("leave, I think"), ()).note == "answer_cannot_be_scored"
    bare = ASKED["dog"].__class__("w", "Why?", "", None, False, {}, {})
    found = grade(bare, said("so it is"), ())
    assert (found.verdict, found.note) == (AnswerVerdict.UNCLEAR, "no_gold_answer")


def test_stale_by_coverage() -> None:
    """What it used covers the old value and nothing that holds; where it names none, all counts."""
    diet = ASKED["diet"]
    assert diet.stale == {"old": "Ann follows a vegetarian diet."}
    sentence = "Eats no meat at all."
    assert grade(diet, said(sentence, "m-old"), [OLD, NOW]).verdict is AnswerVerdict.STALE
    assert grade(diet, said(sentence, "m-now"), [OLD, NOW]).verdict is AnswerVerdict.WRONG
    assert grade(diet, said(sentence), [OLD, NOW]).verdict is AnswerVerdict.WRONG
    assert grade(diet, said(sentence), [OLD, DOG]).verdict is AnswerVerdict.STALE
    assert grade(diet, said("pescatarian", "m-old"), [OLD]).verdict is AnswerVerdict.RIGHT


def test_stale_by_words() -> None:
    """The answer adds to the question what only the old value says."""
    diet = ASKED["diet"]
    assert grade(diet, said("vegetarian"), [NOW]).verdict is AnswerVerdict.STALE
    assert grade(diet, said("vegan"), [NOW]).verdict is AnswerVerdict.WRONG
    assert grade(ASKED["move"], said("vegetarian"), [OPEN]).verdict is AnswerVerdict.WRONG


def test_a_step_on_the_way_is_not_stale() -> None:
    """Ilka is whom the question goes by: she stands in the old statement, and in what holds."""
    bank = ASKED["diet"].__class__(
        "b",
        "Which bank does Ann's hairdresser use now?",
        "",
        "Northern",
        False,
        {},
        {"old": "Ilka banks with Kite Money."},
        holds=("Ilka is Ann's hairdresser.", "Ilka banks with Northern."),
    )
    assert grade(bank, said("Ann, hairdresser, Ilka"), ()).verdict is AnswerVerdict.WRONG
    assert grade(bank, said("Kite Money"), ()).verdict is AnswerVerdict.STALE


def test_that_something_else_was_deleted_is_no_abstention() -> None:
    """Unless what the reader used is about what was asked."""
    move = ASKED["move"]
    assert grade(move, said("The door code was deleted."), [DOG]).verdict is AnswerVerdict.WRONG
    assert grade(move, said("Ann's plan was deleted.", OPEN.id), [OPEN]).abstained

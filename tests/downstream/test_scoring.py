"""Right, wrong or unclear: the rule, case by case."""

import pytest

from memaudit.downstream.scoring import says_unknown, scored
from memaudit.downstream.verdict import Verdict

BAND = "Which instrument does Ilka play now?"
FIRST = "Which town did she see first, Ljubljana or Trieste?"


@pytest.mark.parametrize(
    ("question", "gold", "answer", "verdict"),
    [
        (BAND, "the harp", "The harp.", "right"),
        (BAND, "the harp", "As of July, Ilka plays the harp.", "right"),
        (BAND, "the harp", "Ilka plays the cello.", "wrong"),
        (BAND, "the harp", "", "wrong"),
        ("How many?", "4", "four of them", "right"),
        ("How many?", "4", "14", "wrong"),
        ("How much?", "30,000", "30000 crowns", "right"),
        ("How fast?", "0.9", "at 0.9", "right"),
        # All of foam and feather; then two of cover, someone and leave, at an F1 of 4/6.
        ("Which pillows?", "foam, not feather", "foam, no feather", "right"),
        ("Why?", "cover for someone's leave", "leave cover", "unclear"),
        ("Is it booked?", "no", "No, never.", "right"),
        ("Is it booked?", "no", "yes", "wrong"),
        ("Is it booked?", "no", "never", "unclear"),
        ("Is it booked?", "no, never book breakfast", "Yes, book breakfast", "wrong"),
        # Every term of the gold answer is in the question.
        (FIRST, "Ljubljana", "Ljubljana", "right"),
        (FIRST, "Ljubljana", "first Ljubljana", "right"),
        (FIRST, "Ljubljana", "Trieste", "wrong"),
        (FIRST, "Ljubljana", "Ljubljana and then Trieste, I believe, by train", "unclear"),
        ("When?", "!!!", "now", "unclear"),
    ],
)
def test_scored(question: str, gold: str, answer: str, verdict: str) -> None:
    """answer-v1."""
    assert scored(answer, gold, question) is Verdict(verdict)


@pytest.mark.parametrize(
    ("text", "plain", "deleted"),
    [
        ("It is not known.", True, True),
        ("Ann hasn\u2019t decided where to move.", True, True),
        ("The memories do not say.", True, True),
        ("I cannot tell from this.", True, True),
        ("undecided", True, True),
        ("Erik's birthday was deleted on request.", False, True),
        ("He no longer works there.", False, False),
        ("He did not go.", False, False),
        ("the unknowns of Prague", False, False),
    ],
)
def test_says_unknown(text: str, plain: bool, deleted: bool) -> None:
    """Abstentions in words; that something was deleted is one only where that is the answer."""
    assert says_unknown(text) is plain
    assert says_unknown(text, may_be_gone=True) is deleted

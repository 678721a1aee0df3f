"""Right, wrong or unclear: the rule, case by case."""

import pytest

from memaudit.downstream.answers import Verdict, says_unknown, scored

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
        # May is a month and a.m. half of a day, though they look like words of grammar.
        ("When?", "20 May", "on 20 May", "right"),
        ("When?", "20 May", "20 June", "unclear"),
        ("When?", "May", "She may come.", "wrong"),
        ("When?", "3 AM", "at 3am", "right"),
        ("When?", "3 a.m.", "3 PM", "unclear"),
        # That nothing is known is no "no".
        ("Is it booked?", "no", "No information about that.", "unclear"),
        ("Is it booked?", "no", "No idea.", "unclear"),
        # What is denied is not said; what the gold answer denies may be.
        ("Which nuts?", "peanuts", "Not peanuts", "unclear"),
        ("Which nuts?", "peanuts", "not peanuts but cashews", "unclear"),
        ("Which nuts?", "peanuts", "Not cashews but peanuts, I think.", "right"),
        ("How often?", "every week", "No longer holds: every week.", "unclear"),
        ("Which food?", "fish", "Ann no longer eats fish.", "unclear"),
        ("Which food?", "meat", "Ann no longer eats fish; now she eats meat.", "right"),
        ("Which food?", "meat", "No longer fish, but meat.", "right"),
        ("Which job?", "no longer a nurse", "She is no longer a nurse", "right"),
        # A bare number must stand as one.
        ("How many months ago?", "3", "3-day workshop", "unclear"),
        ("How many lenses?", "3", "3. Macro lens", "unclear"),
        ("How many lenses?", "3", "She owns 3 of them.", "right"),
    ],
)
def test_scored(question: str, gold: str, answer: str, verdict: str) -> None:
    """answer-v2."""
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

"""Tokens, exact match, F1, and right, wrong or unclear by the rule answer-v4."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.lab.downstream.answers import (
    AnswerVerdict,
    exact_match,
    says_unknown,
    score_answer,
    token_f1,
    tokens,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Harp!", ["harp"]),
        ("a dog, an owl", ["dog", "owl"]),
        ("30,000", ["30000"]),
        ("0.90", ["0.9"]),
        ("4.0", ["4"]),
        ("four", ["4"]),
        ("$20.", ["20"]),
        ("007", ["7"]),
        ("16th of August", ["16th", "of", "august"]),
        ("in A&E", ["in", "ae"]),
        ("don't", ["dont"]),
        ("«Réunion»", ["réunion"]),
        ("...", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    """Lower case, no punctuation, no articles, numbers by value."""
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("answer", "gold", "equal", "f1"),
    [
        ("the harp", "Harp.", True, Fraction(1)),
        ("3", "three", True, Fraction(1)),
        ("12", "2", False, Fraction(0)),
        # 1 shared of 3 and 1 tokens: 2 * 1 / 4.
        ("she plays harp", "the harp", False, Fraction(1, 2)),
        # 2 shared of 2 and 3: repeats count once each.
        ("salt salt", "salt and salt", False, Fraction(4, 5)),
        ("", "harp", False, Fraction(0)),
        ("the", "a", True, Fraction(1)),
    ],
)
def test_match_and_f1(answer: str, gold: str, equal: bool, f1: Fraction) -> None:
    """2 · shared / (tokens of both)."""
    assert exact_match(answer, gold) is equal
    assert token_f1(answer, gold) == f1


@given(st.text(max_size=30), st.text(max_size=30))
def test_f1_is_symmetric_and_bounded(one: str, other: str) -> None:
    """Any text: between 0 and 1, the same both ways, 1 on an exact match."""
    f1 = token_f1(one, other)
    assert 0 <= f1 <= 1
    assert f1 == token_f1(other, one)
    assert f1 == 1 or not exact_match(one, other)


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
        ("Which food?", "fish", "Ann no longer eats fish.", "unclear"),
        ("Which food?", "meat", "Ann no longer eats fish; now she eats meat.", "right"),
        ("Which food?", "meat", "No longer fish, but meat.", "right"),
        ("Which job?", "no longer a nurse", "She is no longer a nurse", "right"),
        ("What is her diet?", "does not eat meat", "She eats meat.", "unclear"),
        ("What is her diet?", "no meat", "She doesn't eat meat.", "right"),
        ("Where to?", "Rome", "No, Rome.", "right"),
        # A bare number must stand as one.
        ("How many months ago?", "3", "3-day workshop", "unclear"),
        ("How many lenses?", "3", "She owns 3 of them.", "right"),
    ],
)
def test_scored(question: str, gold: str, answer: str, verdict: str) -> None:
    """answer-v4."""
    assert score_answer(answer, gold, question) is AnswerVerdict(verdict)


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


def test_answers_without_spaces() -> None:
    """Each Han character is a token, so a longer answer that has the gold one is right."""
    assert tokens("他32岁\uff0c在北京。") == ["他", "32", "岁", "在", "北", "京"]
    question, gold = "妹妹的猫吃什么\uff1f", "鸡肉罐头"
    assert score_answer("它只吃鸡肉罐头。", gold, question) == "right"
    assert score_answer("鱼干", gold, question) == "wrong"
    assert says_unknown("对不起\uff0c没有提到。")
    assert not says_unknown("它只吃鸡肉罐头。")

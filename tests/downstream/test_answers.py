"""Exact match and token F1, worked by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.downstream.answers import exact_match, token_f1, tokens


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

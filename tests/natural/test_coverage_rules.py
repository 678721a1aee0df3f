"""The coverage rules, by hand."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.text import terms
from memaudit.natural.coverage_rules import (
    FULL,
    NONE,
    PARTIAL,
    RULE_TEXTS,
    calls_outdated,
    containment,
    is_exact,
    lexical,
    says_change,
)


def test_lexical() -> None:
    """Four terms: cat, luna, 9, month."""
    said = "My cat Luna: nine months."
    assert lexical(said, "Luna the cat is 9 months old").value == FULL
    assert lexical(said, "Luna the cat, some months").value == PARTIAL  # the number is lost
    assert lexical(said, "A cat for 9").value == PARTIAL  # 2 of 4 of so few terms
    assert lexical(said, "Luna").value == NONE  # one term is not enough
    assert lexical(said, "Luna the cat").why == "2 of 4 terms"


def test_containment() -> None:
    """From 4/5 of the terms with all numbers; a quote settles it."""
    said = "Red apples, green pears, 3 plums."  # red apple green pear 3 plum
    assert containment(said, "Red apples, green pears, 3").value == FULL  # 5 of 6
    assert containment(said, "Red apples, green pears, plums").value == PARTIAL  # no 3
    assert containment(said, "Red apples").value == PARTIAL  # 2 of 6
    assert containment(said, "apples").value == NONE  # 1 of 6
    assert containment(said, "apples", quote="apples").value == FULL


@given(st.text(max_size=60))
def test_a_text_contains_itself(text: str) -> None:
    wanted = FULL if terms(text) else NONE
    assert containment(text, text).value == wanted
    assert lexical(text, text).value == wanted


@given(st.text(max_size=60), st.text(max_size=60))
def test_values_are_none_half_or_one(said: str, text: str) -> None:
    assert {lexical(said, text).value, containment(said, text).value} <= {
        Fraction(0), Fraction(1, 2), Fraction(1),
    }  # fmt: skip


def test_change_and_exactness() -> None:
    """Only inclusion is exact; every provenance has a rule."""
    assert says_change("I switched to tea.")
    assert not says_change("I know tea.")
    assert [name for name in RULE_TEXTS if is_exact(name)] == ["exact:inclusion"]
    assert not is_exact(None)


def test_lost_times() -> None:
    """Without its day, a text keeps a part of something temporal, and all of anything else."""
    said, kept = "I went to a support group yesterday", "Went to a support group recently"
    assert lexical(said, kept).value == FULL
    assert lexical(said, kept, timed=True).value == PARTIAL
    assert lexical(said, "Went to a support group yesterday", timed=True).value == FULL


def test_the_wrong_sentence_called_outdated() -> None:
    earlier = "My parents help a lot. They have been staying with me for six months."
    later = "My parents have been staying with me for nine months now."
    wrong = calls_outdated("My parents help a lot.", earlier, later)
    right = calls_outdated("They have been staying with me for six months.", earlier, later)
    assert (wrong.value, right.value) == (PARTIAL, FULL)

"""The named rules, by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.text import numbers, stem, terms
from memaudit.natural.coverage_rules import (
    ABOUT,
    FULL,
    NONE,
    PARTIAL,
    containment,
    is_exact,
    lexical,
    says_change,
)


def test_terms() -> None:
    """Without grammar, in one form each; number words are numbers."""
    found = terms("I've painted nine of the lake's sunrises at 7:30, Mel!")
    assert found == {"paint", "9", "lak", "sunris", "7:30", "mel"}
    assert numbers(found) == {"9", "7:30"}
    assert terms("Yes, you really can.") == frozenset()


@pytest.mark.parametrize("forms", ["paint painted painting paints", "plan planned planning",
                                   "hike hiked hiking hikes", "city cities"])  # fmt: skip
def test_forms_of_a_word_are_one_term(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


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
    """Fully, by either rule, if it has terms at all."""
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
    assert [name for name in ABOUT if is_exact(name)] == ["exact:inclusion"]
    assert not is_exact(None)

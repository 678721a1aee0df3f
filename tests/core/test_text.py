"""Sentences, terms and quotes of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.text import (
    contains,
    counted,
    numbers,
    one_line,
    sentences,
    stem,
    terms,
)

TEXTS = st.text(st.sampled_from("aB .!?\n\t\"')…1"), max_size=60) | st.text(max_size=40)


def test_sentences() -> None:
    """Titles, initials and numbers of a list do not end one; a closing quote belongs to it."""
    text = 'Dr. Smith said "Go!" Then J. Doe left.\n1. Eggs, e.g. two\nBye…  Now?'
    assert sentences(text) == [
        'Dr. Smith said "Go!"', "Then J. Doe left.", "1. Eggs, e.g. two", "Bye…", "Now?",
    ]  # fmt: skip


@given(TEXTS)
def test_sentences_are_the_whole_text(text: str) -> None:
    """Nothing is lost, added or moved but white space."""
    pieces = sentences(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    for sentence in pieces:
        assert sentence in text
        assert sentence == sentence.strip() != ""


def test_a_quote_is_found_whatever_the_spacing() -> None:
    """But not in other words, and nothing is not a quote."""
    assert contains("I eat\n fish  now.", "eat fish now")
    assert not contains("I eat fish now.", "Eat fish")
    assert not contains("anything", " ")
    assert one_line(" a\n b ") == "a b"


def test_terms() -> None:
    """Without grammar, in one form each; number words are numbers."""
    words = terms("I've painted nine of the lake's sunrises at 7:30, Mel!")
    assert words == {"paint", "9", "lak", "sunris", "7:30", "mel"}
    assert numbers(words) == {"9", "7:30"}
    assert terms("Yes, you really can.") == frozenset()


@pytest.mark.parametrize("forms", ["paint painted painting paints", "plan planned planning",
                                   "hike hiked hiking hikes", "city cities"])  # fmt: skip
def test_forms_of_a_word_are_one_term(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


def test_counted() -> None:
    assert (counted(1, "cell"), counted(0, "cell")) == ("1 cell", "0 cells")
    assert counted(1000, "memory") == "1,000 memories"
    assert counted(2, "diagnosis") == "2 diagnoses"
    assert counted(2, "leaf", "leaves") == "2 leaves"

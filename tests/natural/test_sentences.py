"""Pieces of a text are verbatim, and together they are the text."""

from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.text import contains, first_words, one_line, sentences

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
    found = sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    for sentence in found:
        assert sentence in text
        assert sentence == sentence.strip() != ""


@given(TEXTS, st.integers(1, 12))
def test_first_words_is_a_verbatim_start(text: str, count: int) -> None:
    """With at most that many words, and all of a shorter text."""
    cut = first_words(text, count)
    assert text.strip().startswith(cut)
    assert cut.split() == text.split()[:count]


def test_a_quote_is_found_whatever_the_spacing() -> None:
    """But not in other words, and nothing is not a quote."""
    assert contains("I eat\n fish  now.", "eat fish now")
    assert not contains("I eat fish now.", "Eat fish")
    assert not contains("anything", " ")
    assert one_line(" a\n b ") == "a b"

"""What counts as word for word, and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.natural.passes.units import normalized, verbatim

TEXT = "He said:  \u201cI\u2019m done\u201d,\nand left \u2014 at 9."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("and left", "and left"),
        ('"I\'m done"', "\u201cI\u2019m done\u201d"),  # marks are normalized, the source's are kept
        ("said: \u00abI`m done\u00bb,   and", "said:  \u201cI\u2019m done\u201d,\nand"),
        ("  at 9.\n", "at 9."),
        ("And left", None),  # case counts
        ("and left - at", None),  # a dash is no quotation mark
        ("He left", None),  # not joined from two places
        ("done... left", None),
        ("", None),
        (" , ", None),  # no letter, no quote
    ],
)
def test_by_hand(quote: str, found: str | None) -> None:
    assert verbatim(quote, TEXT) == found


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_every_piece_of_a_text_is_found(text: str, start: int, end: int) -> None:
    """What is returned is a piece of the text, and equal to the quote as both are compared."""
    quote = text[start:end]
    found = verbatim(quote, text)
    if any(character.isalnum() for character in quote):
        assert found is not None
        assert found in text
        assert normalized(found)[0] == normalized(quote)[0]
    else:
        assert found is None

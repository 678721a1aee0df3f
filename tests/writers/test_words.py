"""Content words by hand."""

import pytest

from memaudit.writers.shelf import content_words, held, likeness


def test_content_words() -> None:
    """Lower case, no grammar, no status words; underscores join nothing."""
    assert content_words("I'm in Leeds NOW, no longer in 14_Elm_Street.") == {
        "leeds", "14", "elm", "street",
    }  # fmt: skip
    assert content_words("It is not.") == frozenset()
    assert content_words("Café 東京") == {"café", "東京"}


def test_likeness_is_shared_over_all() -> None:
    """Two of four words are shared."""
    one, other = content_words("Ann works at Acme"), content_words("Ann works at Zeta")
    assert likeness(one, other) == pytest.approx(2 / 4)
    assert likeness(one, one) == 1
    assert likeness(one, frozenset()) == likeness(frozenset(), frozenset()) == 0


def test_held_is_a_share_of_the_first() -> None:
    """One of the two words of the tombstone stands in the fact."""
    ended = content_words("Leeds address: no longer valid.")
    assert held(ended, content_words("Lives at 14 Elm Street, Leeds.")) == 1 / 2
    assert held(frozenset(), ended) == 0

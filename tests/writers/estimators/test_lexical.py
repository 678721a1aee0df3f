"""Content words, their overlap and lexical novelty by hand."""

import pytest

from memaudit.writers.estimators.lexical import (
    contained_share,
    content_words,
    jaccard,
    lexical_novelty,
)
from tests.writers.running import view_of


def test_content_words() -> None:
    """Lower case, no grammar, no status words; underscores join nothing."""
    assert content_words("I'm in Leeds NOW, no longer in 14_Elm_Street.") == {
        "leeds", "14", "elm", "street",
    }  # fmt: skip
    assert content_words("It is not.") == frozenset()
    assert content_words("Café 東京") == {"café", "東京"}


def test_jaccard() -> None:
    first, second = content_words("Ann works at Acme"), content_words("Ann works at Zeta")
    assert jaccard(first, second) == pytest.approx(2 / 4)
    assert jaccard(first, first) == 1
    assert jaccard(first, frozenset()) == jaccard(frozenset(), frozenset()) == 0


def test_contained_share() -> None:
    """One of the two words of the tombstone is in the fact."""
    ended = content_words("Leeds address: no longer valid.")
    assert contained_share(ended, content_words("Lives at 14 Elm Street, Leeds.")) == 1 / 2
    assert contained_share(frozenset(), ended) == 0


def test_novelty_is_the_share_of_new_words() -> None:
    """A tombstone is new beside the statement it ends; a compound update says both."""
    view = view_of(
        [("fact", "vegetarian meals", 1), ("fact", "vegetarian soup", 1)],
        [("tombstone", "Vegetarian: no longer valid", 1)],
        [("compound_update", "fish, no longer vegetarian", 1), ("fact", "", 1)],
    )
    novelty = lexical_novelty(view)()
    assert [novelty.share(p) for p in range(5)] == [1, 1, 1, 1, 1]
    novelty.keep(0)
    assert [novelty.share(p) for p in range(5)] == [0, 1 / 2, 1, 3 / 4, 1]
    novelty.keep(2)
    assert [novelty.share(p) for p in range(5)] == [0, 1 / 2, 0, 2 / 4, 1]


def test_each_pass_starts_anew() -> None:
    start = lexical_novelty(view_of([("fact", "apples", 1)]))
    start().keep(0)
    assert start().share(0) == 1

"""Cues, content words, their overlap and novelty by hand."""

from dataclasses import asdict
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.lab.sweeps.writers.lexical import (
    contained_share,
    content_words,
    cue_values,
    cue_worth,
    jaccard,
    lexical_novelty,
    text_cues,
)
from tests.lab.sweeps.writers.running import view_of
from tests.strategies import texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I no longer eat meat.", {"first_person", "update"}),
        ("Dentist: 12 May at 14:00.", {"number", "date"}),
        ("Tuesday", {"date"}),
        ("Please delete my number", {"first_person", "update"}),
        ("known, knowing", set()),
        ("", set()),
    ],
)
def test_flags(text: str, shown: set[str]) -> None:
    """Whole words only: known is not now."""
    flags = asdict(text_cues(text))
    assert {name for name, value in flags.items() if value is True} == shown


def test_names_stand_inside_a_sentence() -> None:
    """Leeds, Ana and Émile; not the word that starts a sentence, nor a lone I."""
    assert text_cues("We met in Leeds. Then Ana, Émile and I left.").names == 3
    assert text_cues("Nobody came. Nothing happened").names == 0


def test_the_prior_by_hand() -> None:
    """Fact 0.6; number 0.2, date 0.2, six words 0.1 * 6 / 16; half as sure, half of it."""
    text = "Dentist: 12 May, ten o'clock"  # dentist, 12, may, ten, o, clock
    worth = 0.2 + 0.2 + 0.1 * 6 / 16
    assert cue_worth(text) == pytest.approx(worth)
    view = view_of([("fact", text, 5), ("fact", text, 5, Fraction(1, 2)), ("odd", "", 1)])
    assert cue_values(view) == pytest.approx((0.6 + worth, (0.6 + worth) / 2, 0.5))


def test_all_cues_add_up_to_one_at_most() -> None:
    """A very long text with every cue comes close to 1."""
    text = "Today I moved to Leeds with Ana, room 7. " + "word " * 5000
    assert 0.99 < cue_worth(text) < 1


@given(text=texts | st.text())
def test_worth_lies_between_0_and_1(text: str) -> None:
    assert 0 <= cue_worth(text) <= 1


def test_content_words() -> None:
    """Lower case, no grammar, no status words; underscores join nothing."""
    assert content_words("I'm in Leeds NOW, no longer in 14_Elm_Street.") == {
        "leeds",
        "14",
        "elm",
        "street",
    }
    assert content_words("It is not.") == frozenset()
    assert content_words("我住在杭州") == {"住", "杭州"}
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
    start = lexical_novelty(view)
    novelty = start()
    assert [novelty.share(p) for p in range(5)] == [1, 1, 1, 1, 1]
    novelty.keep(0)
    assert [novelty.share(p) for p in range(5)] == [0, 1 / 2, 1, 3 / 4, 1]
    novelty.keep(2)
    assert [novelty.share(p) for p in range(5)] == [0, 1 / 2, 0, 2 / 4, 1]
    assert start().share(0) == 1  # each pass starts anew

"""Cues, the cue prior and lexical novelty by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.writers.estimators.cue_prior import (
    KIND_PRIOR,
    CuePrior,
    cue_worth,
    kind_prior,
    text_cues,
)
from memaudit.writers.estimators.lexical import lexical_novelty
from tests.strategies import texts
from tests.writers.tiny_views import view_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I no longer eat meat.", {"first_person", "update"}),
        ("Dentist: 12 May at 14:00.", {"number", "date"}),
        ("It may rain", {"unsure"}),
        ("Please delete my number", {"first_person", "update", "deletion"}),
        ("Who prefers tea?", {"liking", "question"}),
        ("Tuesday", {"date"}),
        ("known, knowing", set()),
        ("", set()),
    ],
)
def test_flags(text: str, shown: set[str]) -> None:
    """Whole words only: known is not now."""
    cues = text_cues(text)
    flags = (
        "number", "date", "first_person", "update", "deletion", "unsure", "liking", "question",
    )  # fmt: skip
    assert {flag for flag in flags if getattr(cues, flag)} == shown


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
    assert CuePrior().values(view) == pytest.approx((0.6 + worth, (0.6 + worth) / 2, 0.5))


def test_all_cues_add_up_to_one_at_most() -> None:
    """A very long text with every cue comes close to 1."""
    text = "Today I moved to Leeds with Ana, room 7. " + "word " * 5000
    assert 0.99 < cue_worth(text) < 1


@given(text=texts | st.text(), kind=st.sampled_from([*KIND_PRIOR, "odd"]))
def test_parts_lie_between_0_and_1(text: str, kind: str) -> None:
    """Whatever the text."""
    assert 0 <= cue_worth(text) <= 1
    assert 0 <= kind_prior(kind) <= 1


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
    """Novelties of one view share its words, not their memory."""
    start = lexical_novelty(view_of([("fact", "apples", 1)]))
    start().keep(0)
    assert start().share(0) == 1

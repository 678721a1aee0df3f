"""Cues and the cue prior by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.writers.estimators.cue_prior import CuePrior, cue_worth, text_cues
from tests.strategies import texts
from tests.writers.running import view_of


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


@given(text=texts | st.text())
def test_worth_lies_between_0_and_1(text: str) -> None:
    assert 0 <= cue_worth(text) <= 1

"""Intervals by the error of the offline judge, the level of chance, and gates that go by them."""

from dataclasses import replace
from fractions import Fraction

import pytest

from memaudit.api import score, texts
from memaudit.judges.gate import passes
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.score_interval import interval_of
from tests.kernel.score.long_stores import STORES, Labelled, long_package, long_store

PACKAGE = "thesis-and-tours"


def test_intervals_contain_the_labelled_scores() -> None:
    """Most of them: the judge saw this conversation, but its error was measured without it."""
    package = long_package(PACKAGE)
    stores = [long_store(PACKAGE, name) for name in STORES]
    true = score(package, stores, "10%,40%", Labelled(package), stores_only=True)
    judged = score(package, stores, "10%,40%", "offline", stores_only=True, draws=8)
    inside = 0
    for known, row in zip(true, judged, strict=True):
        assert row.interval is not None
        assert known.interval is known.chance is None
        low, high = row.interval
        assert low <= (row.score or 0) <= high
        assert row.chance is not None
        assert row.chance < 0.1
        assert not row.is_unrelated
        inside += low <= (known.score or 0) <= high
    assert inside >= 8
    assert "\u00b1" in repr(judged["thesis-and-tours notes", "10%"])
    assert any("published error, 8 draws" in line for line in judged.warnings)


def test_draws_are_the_same_every_time_and_can_be_left_out() -> None:
    """A draw is one truth about a text: it is the same whatever the stores of a text are
    called."""
    package, store = long_package(PACKAGE), long_store(PACKAGE, "terse")
    (first,) = score(package, store, [100], draws=4, stores_only=True)
    (again,) = score(package, store, [100], draws=4, stores_only=True)
    (none,) = score(package, store, [100], draws=0, stores_only=True)
    assert first.interval == again.interval
    assert none.interval is none.chance is None
    assert none.score == first.score
    package, store = long_package(PACKAGE), long_store(PACKAGE, "notes")
    other = store.model_copy(update={"name": "another name"})
    both = score(package, [store, other], [120], stores_only=True, draws=4)
    assert both.rows[0].interval == both.rows[1].interval


def test_a_strangers_store_is_unrelated() -> None:
    package = long_package("two-sisters")
    result = score(package, long_store("small-bakery", "notes"), ["own"], draws=2)
    (row,) = result
    assert row.is_unrelated
    assert (row.score or 0) < 0.05
    assert any("UNRELATED to two-sisters" in line for line in result.warnings)
    (nothing,) = score(package, texts(["The kettle broke.", "Nobody minded."]), ["own"], draws=2)
    assert nothing.is_unrelated
    assert nothing.score == 0


def test_an_interval_reaches_two_deviations() -> None:
    """Of 0.4 and 0.6: their standard deviation is 0.1414."""
    low, high = interval_of(Fraction(1, 2), [0.4, 0.6]) or (0, 0)
    assert (low, high) == pytest.approx((0.5 - 2 * 0.02**0.5, 0.5 + 2 * 0.02**0.5))
    assert interval_of(Fraction(9, 10), [0.2, 1.0]) == (0.0, 1.0)
    assert interval_of(None, [0.4, 0.6]) is None
    assert interval_of(Fraction(1, 2), [0.4]) is None


def test_a_gate_goes_by_the_interval() -> None:
    package, store = long_package(PACKAGE), long_store(PACKAGE, "profile")
    (row,) = score(package, store, ["10%"], draws=4, stores_only=True)
    sure = replace(row, interval=((row.score or 0) - 0.05, (row.score or 0) + 0.05))
    assert passes(sure, (row.score or 0) - 0.1)
    assert not passes(sure, (row.score or 0) + 0.1)
    with pytest.raises(MemAuditError, match=r"its error leaves .* open; .*ask"):
        passes(sure, (row.score or 0) + 0.01)
    assert not passes(sure, (row.score or 0) + 0.01, allow_estimates=True)

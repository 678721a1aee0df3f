"""How many uncovered cells a stratum gives."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.frame_drawing import allocated

FIFTH = Fraction(1, 5)


def test_rounded_up() -> None:
    """A fifth of 10 is 2; of 3 and of 1 it is more than 0, so 1; of 11 more than 2, so 3."""
    assert allocated({"a": 10, "b": 3, "c": 1, "d": 11}, FIFTH) == {"a": 2, "b": 1, "c": 1, "d": 3}
    assert allocated({"a": 10, "b": 0}, Fraction(0)) == {"a": 0, "b": 0}


def test_largest_remainders() -> None:
    """Half would be 75 cells, 30 are allowed: 1 each, and 27 in proportion to 99, 39 and 9.

    That is 18.18, 7.16 and 1.65 of 147: 26 whole ones, and the last goes to the third.
    """
    sizes = {"a": 100, "b": 40, "c": 10}
    assert allocated(sizes, Fraction(1, 2), 30) == {"a": 19, "b": 8, "c": 3}
    assert allocated(sizes, Fraction(1, 2), 75) == {"a": 50, "b": 20, "c": 5}


def test_no_room_for_one_of_each() -> None:
    """Dropping a stratum would be silent; it is an error."""
    with pytest.raises(MemAuditError, match="room for 2 uncovered cells, but they fall into 3"):
        allocated({"a": 100, "b": 40, "c": 10}, FIFTH, 2)


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=9),
    st.fractions(Fraction(1, 100), 1),
    st.integers(9, 300),
)
def test_within_bounds(sizes: list[int], rate: Fraction, most: int) -> None:
    """At least one and at most all of each stratum, and never more than allowed in all."""
    found = allocated(dict(enumerate(sizes)), rate, most)
    assert all(1 <= found[place] <= size for place, size in enumerate(sizes))
    free = allocated(dict(enumerate(sizes)), rate)
    assert sum(found.values()) == min(most, sum(free.values()))

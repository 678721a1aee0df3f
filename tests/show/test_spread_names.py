"""Names are moved apart, and no further than that."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.show.svg_charts import spread


def test_by_hand() -> None:
    """Two at one place go half a gap up and down; one far away stays; edges push back."""
    assert spread([5, 5, 9], 1, 0, 10) == pytest.approx([4.5, 5.5, 9])
    assert spread([10, 10], 1, 0, 10) == pytest.approx([9, 10])
    assert spread([0, 0, 0], 1, 0, 10) == pytest.approx([0, 1, 2])
    assert spread([], 1, 0, 10) == []


@given(st.lists(st.floats(0, 10), max_size=30))
def test_apart_and_in_order(wanted: list[float]) -> None:
    """A gap apart, in the order of the ends, inside where there is room."""
    places = spread(wanted, 0.5, 0, 10)
    ordered = sorted(places)
    assert all(b - a >= 0.5 - 1e-9 for a, b in pairwise(ordered))
    ranks = sorted(range(len(wanted)), key=lambda i: wanted[i])
    assert [places[i] for i in ranks] == ordered
    if len(wanted) <= 20:
        assert all(-1e-9 <= place <= 10 + 1e-9 for place in places)


@given(st.lists(st.integers(0, 40), unique=True, max_size=20))
def test_enough_room_moves_nothing(wanted: list[int]) -> None:
    """Ends that are apart keep their places."""
    assert spread([float(w) for w in wanted], 1, 0, 40) == pytest.approx(wanted)

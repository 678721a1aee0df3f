"""Bars that hang where the last one ended, worked out by hand."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from memaudit.lab.explorer.views.parts import waterfall

EIGHTH = Fraction(1, 8)


def test_steps_hang_on_one_another() -> None:
    """Of 8: 1 lost, nothing lost, 4 lost; 3 left."""
    bars = waterfall(
        ("all", "", 8.0),
        [("a", "", EIGHTH, 1.0), ("b", "", Fraction(0), 0.0), ("c", "", 4 * EIGHTH, 4.0)],
        ("left", "", 3.0),
    )
    assert [(bar.name, bar.start, bar.width, bar.end) for bar in bars] == [
        ("all", 0.0, 100.0, 100.0),
        ("a", 87.5, 12.5, 100.0),
        ("b", 87.5, 0.0, 87.5),
        ("c", 37.5, 50.0, 87.5),
        ("left", 0.0, 37.5, 37.5),
    ]
    assert bars[-1].share == 3 * EIGHTH


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=8))
def test_nothing_is_lost_between_the_bars(parts: list[int]) -> None:
    """Each bar ends where the one above started, and shares sum to 1."""
    whole = sum(parts) + 1
    shares = [Fraction(part, whole) for part in parts]
    bars = waterfall(
        ("all", "", 1.0), [("s", "", share, 0.0) for share in shares], ("left", "", 0.0)
    )
    assert sum((bar.share for bar in bars[1:]), Fraction(0)) == 1
    edges = [100.0, *(bar.start for bar in bars[1:-1])]
    for edge, bar in zip(edges, bars[1:], strict=True):
        assert abs(bar.end - edge) < 0.002  # rounded to a thousandth of a percent
        assert bar.start >= 0
        assert bar.end <= 100.001

"""Bars that hang where the last one ended."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from memaudit.lab.explorer.views.parts import waterfall


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

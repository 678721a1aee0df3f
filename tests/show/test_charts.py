"""Coordinates of pictures, by hand."""

import pytest

from memaudit.show.encoding import looks
from memaudit.show.page_charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Member,
    curve_plot,
)

A, B = (Member(name, name.upper(), "", "deployable", look) for name, look in looks("ab").items())


def point(first: int, words: float, coverage: float | None) -> dict[str, object]:
    return {"first": first, "words": words, "evidence_coverage": {"mean": coverage}}


def test_a_curve() -> None:
    """Shares from the bottom to the top; words from the left, evenly where they lie together."""
    plot = curve_plot([(A, [point(1, 50, 0.0), point(2, 100, 1.0)]), (B, [point(1, 75, 0.5)])])
    assert plot is not None
    ends = [(point.x, point.y) for point in plot.points]
    assert [y for _, y in ends] == [HEIGHT - BOTTOM, TOP, (HEIGHT - BOTTOM + TOP) / 2]
    assert ends[0][0] < ends[2][0] < ends[1][0] <= WIDTH - RIGHT
    assert ends[2][0] == pytest.approx((ends[0][0] + ends[1][0]) / 2, abs=0.1)
    assert [member.name for member, _ in plot.lines] == ["a", "b"]
    assert "A: coverage 1.000 in 100 words" in plot.description


def test_far_apart_words_stand_by_their_logarithm() -> None:
    """10, 100 and 1000 are evenly spaced, and numbers stay inside the picture."""
    plot = curve_plot([(A, [point(1, 10, 0.1), point(2, 100, 0.2), point(3, 1000, 0.3)])])
    assert plot is not None
    first, second, third = (point.x for point in plot.points)
    assert second - first == pytest.approx(third - second, abs=0.2)
    assert all(LEFT <= tick.at <= WIDTH - RIGHT for tick in plot.x_ticks)
    assert "100" in [tick.text for tick in plot.x_ticks]


def test_nothing_to_draw() -> None:
    assert curve_plot([(A, [])]) is None
    assert curve_plot([(A, [point(1, 0, 0.0)]), (B, [point(1, 9, None)])]) is None

"""Numbers as the page shows them, by hand."""

from fractions import Fraction

import pytest

from memaudit.show import page_charts, page_numbers
from memaudit.show.encoding import kind_look
from memaudit.show.page_numbers import shortened
from memaudit.show.svg_charts import ticks

MINUS = "\N{MINUS SIGN}"


def test_numbers_are_short_and_signed() -> None:
    assert page_numbers.ratio(0.5786) == "0.579"
    assert page_numbers.difference(0.0142) == "+0.014"
    assert page_numbers.difference(-0.0142) == f"{MINUS}0.014"
    assert page_numbers.difference(-0.0001) == "0.000"
    assert page_numbers.change(-1.005) == f"{MINUS}1.00"
    assert page_numbers.p_value(0.0004998) == "0.0005"
    assert page_numbers.p_value(0.0331) == "0.033"
    assert page_numbers.precise(Fraction(9, 4)) == "2.25"
    assert page_numbers.precise(Fraction(1, 3)) == "1/3"
    assert page_numbers.share(0.666) == "67%"


@pytest.mark.parametrize(
    "show", [page_numbers.ratio, page_numbers.difference, page_numbers.amount, page_numbers.share]
)
def test_what_is_not_there_is_a_dash(show: object) -> None:
    assert callable(show)
    assert show(None) == show(float("nan")) == page_numbers.NONE


def test_ticks_are_round() -> None:
    assert ticks(18) == [0, 5, 10, 15]
    assert ticks(1) == [0, 0.25, 0.5, 0.75, 1]
    assert ticks(13.25) == [0, 5, 10]
    assert ticks(0) == [0]


def test_a_stacked_bar_adds_up() -> None:
    bars = page_charts.stack([3.0, 0.0, 1.0], ["fact", "b", "raw"], 8.0, kind_look)
    assert [(bar.start, bar.width, bar.look, bar.name) for bar in bars] == [
        (0.0, 37.5, kind_look("fact"), "fact"),
        (37.5, 12.5, kind_look("raw"), "raw"),
    ]


def test_long_texts_say_what_is_missing() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcdef", 4) == "abcd … (2 more characters)"

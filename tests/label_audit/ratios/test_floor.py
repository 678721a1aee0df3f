"""Gains worked out by hand, and the least share against every choice."""

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from memaudit.label_audit.label_box import Values
from memaudit.label_audit.ratio_bounds import gains, lowest_share
from tests.label_audit.ratios.tiny import F, package

PARTS = (F(0), F(1, 3), F(1, 2), F(1), F(2))


def test_gains() -> None:
    """b covers u by 1/2 (weight 2, full at 1); a's cell is open from 1/4 to 1.

    S = {a, b} covers 3/4 at the start. Raising by 1/4 fills it: S gains 1/2, others at most 1/2.
    Raising by 3/4 gives S no more, others up to 3/2.
    """
    cells = [
        {"candidate": "a", "unit": "u", "value": "1/4"},
        {"candidate": "b", "unit": "u", "value": "1/2"},
    ]
    low, high = {("a", "u"): F(1, 4)}, {("a", "u"): F(1)}
    found = gains(Values(package(coverage=cells)), low, high, [("a", "u")], ["a", "b"])
    assert found == [[(F(0), F(0)), (F(1, 2), F(1, 2)), (F(1, 2), F(3, 2))]]


def test_gains_of_a_bending_response() -> None:
    """Under a square root S is taken to gain nothing, others all that is possible."""
    units = [{"id": "u", "kind": "fact", "weight": 2, "response": {"shape": "sqrt"}}]
    found = gains(
        Values(package(units=units, coverage=[])),
        {("a", "u"): F(0)},
        {("a", "u"): F(1, 4)},
        [("a", "u")],
        ["a"],
    )
    assert found == [[(F(0), F(0)), (F(0), F(1))]]


def test_units_that_weigh_nothing_gain_nothing() -> None:
    """So they are left out."""
    units = [{"id": "u", "kind": "fact", "weight": 0}]
    values = Values(package(units=units, coverage=[]))
    assert gains(values, {("a", "u"): F(0)}, {("a", "u"): F(1)}, [("a", "u")], ["a"]) == []


def test_without_an_optimum() -> None:
    """Nothing at the start: the share is at least that of the worst gain."""
    assert lowest_share(F(0), F(0), [[(F(0), F(0)), (F(1), F(2))], [(F(1), F(1))]]) == F(1, 2)
    assert lowest_share(F(0), F(0), []) == 0


@given(
    st.sampled_from(PARTS),
    st.sampled_from(PARTS[1:]),
    st.lists(
        st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(PARTS)), max_size=3), max_size=4
    ),
)
def test_the_least_share(
    value: Fraction, more: Fraction, units: list[list[tuple[Fraction, Fraction]]]
) -> None:
    """No choice of gains, nothing among them, gives less, and one gives it."""
    found = [[(F(0), F(0)), *((min(pair), max(pair)) for pair in unit)] for unit in units]
    optimum = value + more
    shares = [
        (value + sum(a for a, _ in chosen)) / (optimum + sum(b for _, b in chosen))
        for chosen in product(*found)
    ]
    assert lowest_share(value, optimum, found) == min(shares)

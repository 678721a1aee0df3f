"""h and F: values by hand, enclosures, concavity; F is monotone and submodular for every h."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.objective import covered, value, violations
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import (
    PRECISION_BITS,
    Capped,
    Log1p,
    Piecewise,
    Response,
    Saturating,
    Sqrt,
)
from tests.strategies import all_responses, packages


def test_value_by_hand(tiny: Package) -> None:
    """u1: min(1, 1 + 1/2) * 2; u2 weighs 1 from its query."""
    assert value(tiny, []).low == 0
    assert value(tiny, ["m2"]).low == 1
    assert value(tiny, ["m1", "m2"]).low == 2
    assert value(tiny, ["m1", "m3"]).low == 3
    assert covered(tiny, ["m1", "m2"])["u1"] == Fraction(3, 2)
    with pytest.raises(MemAuditError, match="unknown candidate 'm9'"):
        value(tiny, ["m9"])


@given(packages(), st.data())
@settings(max_examples=50)
def test_monotone_and_submodular(package: Package, data: st.DataObject) -> None:
    """F(A) <= F(B) and F(A + m) - F(A) >= F(B + m) - F(B) for A in B, within the enclosures."""
    ids = sorted(package.candidate)
    large = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    small = data.draw(st.lists(st.sampled_from(large), unique=True)) if large else []
    assert value(package, []).low == value(package, []).high == 0
    assert value(package, small).low <= value(package, large).high
    for more in set(ids) - set(large):
        early = value(package, [*small, more]).high - value(package, small).low
        late = value(package, [*large, more]).low - value(package, large).high
        assert early >= late


def test_violations_in_words(tiny: Package) -> None:
    assert violations(tiny, ["m1", "m3"], Fraction(7, 3), 1) == []
    assert violations(tiny, ["m1", "m2"], Fraction(2), 1) == [
        "cost 3 exceeds the budget 2",
        "experience 'e1' keeps 2 candidates, at most 1 allowed",
    ]
    assert violations(tiny, ["x"], Fraction(9), 1) == ["unknown candidate 'x'"]
    assert violations(tiny, ["m3", "m3"], Fraction(9), 2) == ["a candidate is kept twice"]


F = Fraction
amounts = st.fractions(min_value=0, max_value=50, max_denominator=10**6)


def truth(h: Response, z: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on h(z) from 100 digit decimals, independent of the code under test."""
    with localcontext() as context:
        context.prec = 100
        decimal = Decimal(z.numerator) / Decimal(z.denominator)
        value = {
            "sqrt": lambda: decimal.sqrt(),
            "log1p": lambda: (1 + decimal).ln(),
            "saturating": lambda: 1 - (-decimal).exp(),
        }[h.shape]()
    slack = F(1, 10**90)
    return F(value) - slack, F(value) + slack


@given(st.sampled_from([Sqrt(), Log1p(), Saturating()]), amounts)
def test_enclosures_hold_the_truth(h: Response, z: Fraction) -> None:
    """The true value lies inside, and the enclosure is at most two grid steps wide."""
    low, high = truth(h, z)
    found = h.at(z)
    assert found.low <= high
    assert low <= found.high
    assert found.high - found.low <= F(2, 1 << PRECISION_BITS)


def test_values_by_hand() -> None:
    """min(cap, z); lines through (1/2, 3/4) and (1, 1); square roots of squares are exact."""
    assert [Capped().at(z).low for z in (F(0), F(1, 3), F(2))] == [0, F(1, 3), 1]
    assert Capped(cap=F(1, 2)).at(F(3)).high == F(1, 2)
    line = Piecewise(points=((F(1, 2), F(3, 4)), (F(1), F(1))))
    assert [line.at(z).low for z in (F(1, 4), F(1, 2), F(3, 4), F(9))] == [
        F(3, 8),
        F(3, 4),
        F(7, 8),
        1,
    ]
    assert Sqrt().at(F(9, 4)).low == Sqrt().at(F(9, 4)).high == F(3, 2)
    assert all(h.at(F(0)).high == 0 for h in (Sqrt(), Log1p(), Saturating()))


@given(all_responses(), amounts, amounts, amounts)
def test_nondecreasing_and_concave(h: Response, a: Fraction, b: Fraction, step: Fraction) -> None:
    """h(0) = 0, h grows, and a step further out never gains more (within the enclosures)."""
    a, b = sorted((a, b))
    assert h.at(F(0)).low == h.at(F(0)).high == 0
    assert h.at(a).low <= h.at(b).high
    smallest_early_gain = h.at(a + step).high - h.at(a).low
    largest_late_gain = h.at(b + step).low - h.at(b).high
    assert smallest_early_gain >= largest_late_gain


@given(all_responses(), st.sampled_from([F(1), F(1, 2), F(1, 6), F(3, 10)]), st.integers(0, 12))
def test_grain_makes_values_whole(h: Response, step: Fraction, count: int) -> None:
    """Every rational h times its grain is whole at multiples of the step."""
    if h.is_rational:
        assert (h.at(step * count).low * h.grain(step)).denominator == 1


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([[1, 1], [1, 2]], "increasing coverage"),
        ([[0, 1]], "increasing coverage"),
        ([[1, 1], [2, 0]], "must not decrease"),
        ([[1, 1], [2, 3]], "concave"),
    ],
)
def test_bad_shapes_are_refused(points: list[list[int]], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Piecewise.model_validate({"points": points})

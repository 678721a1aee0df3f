"""F is normalised, monotone and submodular for every h (paper, section 2)."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.core.objective import covered, value, violations
from memaudit.core.package import Package
from tests.strategies import packages


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

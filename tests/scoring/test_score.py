"""Scores against the definition of F."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.objective import covered, value
from memaudit.core.package import INVALIDATION_KINDS, Package
from memaudit.generators.registry import named_distribution
from memaudit.scoring.score import Scorer
from memaudit.solvers.form import integer_form
from tests.strategies import packages


@given(st.data())
def test_value_and_cost_are_those_of_the_store(data: st.DataObject) -> None:
    """Whole numbers inside, the same rationals outside."""
    package: Package = data.draw(packages())
    ids = sorted(package.candidate)
    store = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    score = Scorer(package, integer_form(package)).score(store)
    assert score.cost == package.total_cost(store)
    amounts = covered(package, store)
    expected = sum(
        (min(Fraction(1), amounts[u.id]) for u in package.units if u.kind in INVALIDATION_KINDS),
        Fraction(0),
    )
    assert score.invalidation == expected
    assert sum(score.kinds.values()) == len(store)
    exact = value(package, store)
    if exact.is_point:
        assert score.value == exact.low
        assert sum(score.unit_values.values()) == exact.low
    else:
        assert abs(score.value - exact.low) < Fraction(1, 10**6)


def test_by_hand() -> None:
    """base, both tombstones and one old fact."""
    package = named_distribution("base").package(0)
    score = Scorer(package, integer_form(package)).score(
        ["e3.fact", "e4.tombstone", "e6.tombstone"]
    )
    assert (score.invalidation, score.current, score.stale) == (2, 0, 1)
    assert score.kinds == {"fact": 1, "tombstone": 2}
    weights = package.weights
    assert score.unit_values == {
        "stale": weights["stale 0"],
        "supersession": weights["invalid 0"] + weights["invalid 1"],
    }

"""Scores against the definition of F, and one rule for denominators."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.objective import covered, value
from memaudit.core.package import INVALIDATION_KINDS, Package
from memaudit.generators.registry import named_distribution
from memaudit.scoring.score import Ratio, Scorer, bound_text
from memaudit.solvers.form import integer_form
from memaudit.solvers.solve import solve
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


def test_ratio_is_defined(tiny: Package) -> None:
    """A share of a certified optimum."""
    best = solve(tiny, 100)
    assert Ratio(best.value / 2, best).value == Fraction(1, 2)
    assert Ratio(best.value / 2, best).undefined == ""


def test_zero_optimum_is_undefined(tiny: Package) -> None:
    """At budget 0 nothing can be kept: neither 0 nor 1."""
    best = solve(tiny, 0)
    assert best.value == 0
    assert Ratio(Fraction(0), best).value is None
    assert Ratio(Fraction(0), best).undefined == "optimum is 0"


def test_uncertified_optimum_is_undefined(tiny: Package) -> None:
    """A bound is no denominator."""
    best = solve(tiny, 100, check=False)
    assert Ratio(best.value, best).value is None
    assert Ratio(best.value, best).undefined == "optimum not certified"


def test_an_open_optimum_gives_two_ends(tiny: Package) -> None:
    """OPT lies between what was found, 3, and its bound, 4: 3/2 of it is between 3/8 and 1/2."""
    found = replace(solve(tiny, 3, check=False), bound=Fraction(4))
    assert Ratio(Fraction(3, 2), found).between == (Fraction(3, 8), Fraction(1, 2))
    assert Ratio(Fraction(3, 2), solve(tiny, 3)).between is None
    assert Ratio(Fraction(0), solve(tiny, 0, check=False)).between is None


def test_an_open_numerator_gives_two_ends(tiny: Package) -> None:
    """A best subset that is known to lie between 1 and 2 of an optimum of 3; never above it."""
    best = solve(tiny, 3)
    open_ratio = Ratio(Fraction(1), best, highest=Fraction(2))
    assert open_ratio.value is None
    assert open_ratio.undefined == "optimum not certified"
    assert open_ratio.between == (Fraction(1, 3), Fraction(2, 3))
    assert Ratio(Fraction(1), best, highest=Fraction(9)).between == (Fraction(1, 3), 1)


def test_a_bound_in_words(tiny: Package) -> None:
    """With its gap; without one it is the proof that is missing."""
    found = solve(tiny, 3, check=False)
    assert bound_text(replace(found, bound=Fraction(4))) == (
        "is not certified, it lies between 3 and 4"
    )
    assert bound_text(found) == "is 3 by its bound, but its certificate is not finished"

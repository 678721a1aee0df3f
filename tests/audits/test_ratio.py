"""One rule for denominators."""

from fractions import Fraction

from memaudit.audits.ratio import Ratio
from memaudit.core.package import Package
from memaudit.solvers.solve import solve


def test_defined(tiny: Package) -> None:
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

"""One rule for denominators."""

from dataclasses import replace
from fractions import Fraction

from memaudit.core.package import Package
from memaudit.scoring.ratio import Ratio, bound_text
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

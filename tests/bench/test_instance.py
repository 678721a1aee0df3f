"""A benchmark problem and the package made of it are the same problem."""

from fractions import Fraction

import pytest

from bench.families import family
from bench.instance import as_package
from memaudit.solvers.brute import BruteForce
from memaudit.solvers.form import integer_form
from memaudit.solvers.protocol import Limits
from tests.bench.tiny import brute, mini


@pytest.mark.parametrize("seed", range(8))
def test_package_has_the_optimum_of_the_arrays(seed: int) -> None:
    instance = mini(seed)
    package = as_package(instance)
    form = integer_form(package).at(Fraction(instance.packed.budget), 1)
    optimum = BruteForce().solve(form, Limits())
    assert Fraction(optimum.value, form.value_scale) == Fraction(brute(instance.packed), 10)


def test_package_keeps_order_sizes_and_budget() -> None:
    instance = family("C", [102])[2]
    package = as_package(instance)
    packed = instance.packed
    assert [int(candidate.cost) for candidate in package.candidates] == packed.cost.tolist()
    assert [candidate.id for candidate in package.candidates] == list(
        integer_form(package).candidate_ids
    )
    assert len(package.units) == len(packed.tops)
    assert len(package.coverage) == len(packed.unit)
    assert package.budgets == (Fraction(packed.budget),)
    assert package.cost_rule == "declared"

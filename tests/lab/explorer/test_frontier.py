"""The curve of OPT is what the frontier says, point by point, and says so when it is not whole."""

from fractions import Fraction

from hypothesis import given, settings

from memaudit.building.named_packages import short_set
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.frontier import frontier
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.explorer.views.optima import FrontierSearch
from memaudit.lab.sweeps.writers.protocol import OracleView
from tests.strategies import packages

LONG = 60.0


def searched(package: Package, *given: int) -> FrontierSearch:
    return FrontierSearch(OracleView(package), map(Fraction, given))


def test_every_step_of_a_real_package() -> None:
    package = short_set()[0]
    found = searched(package).work(LONG)
    assert found.is_complete
    last = int(found.steps[-1].budget)
    steps = frontier(package, last + 3).steps()
    assert [(int(step.budget), step.value) for step in found.steps] == steps
    for step in found.steps:
        assert step.certified
        assert package.total_cost(step.store) == step.budget
    assert found.note.startswith(f"Exact at every budget: OPT has {len(steps)} steps")


@given(packages())
@settings(max_examples=40)
def test_between_the_steps_nothing_changes(package: Package) -> None:
    """At a step OPT is the step's value; just below it, that of the step before."""
    found = searched(package).work(LONG)
    assert found.is_complete
    values = [step.value for step in found.steps]
    assert values == sorted(set(values))
    for before, step in zip(found.steps, found.steps[1:], strict=False):
        assert solve(package, step.budget).value == step.value
        below = solve(package, step.budget - Fraction(1, 10**9))
        assert below.value == before.value


def test_given_budgets_come_first(tiny: Package) -> None:
    """Without any time for more, one budget and what was asked are solved; the note says so."""
    search = searched(tiny, 1, 3)
    assert len(search.work(0.0).steps) == len(search.work(0.0).steps) == 1
    solved = [search.optimum(Fraction(budget)) for budget in (1, 3)]
    known = search.work(0.0)
    assert [step.value for step in known.steps] == [one.value for one in solved]
    assert not known.is_complete
    assert "Between two of them it lies between their values" in known.note
    assert search.work(LONG).is_complete

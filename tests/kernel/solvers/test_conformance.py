"""Every registered backend, compared with brute force; a new one is found by itself."""

from fractions import Fraction
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.errors import UnknownSolver
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.form import Form, integer_form
from memaudit.kernel.solvers.protocol import Limits, Solution
from memaudit.kernel.solvers.reference import BruteForce
from memaudit.kernel.solvers.registry import SOLVERS, named_solver
from tests.kernel.solvers.random_forms import random_form, random_package
from tests.strategies import packages, renamed

FORMS = {"highs": 400}
"""How many seeded forms a slow backend is given; the others get 2,000."""

NAMES = sorted(SOLVERS)


@cache
def seeded(seed: int) -> tuple[Form, int]:
    """A seeded form and its optimum by brute force; every fourth has an irrational h."""
    form = random_form(seed, irrational=seed % 4 == 0)
    return form, BruteForce().solve(form, Limits()).value


def rounding(form: Form) -> int:
    """What floating point may miss: a few grid steps of every irrational h, nothing elsewhere."""
    return sum(4 * level.slack for level in form.levels if not level.response.is_rational)


def check_store(form: Form, solution: Solution) -> None:
    assert form.feasible(solution.chosen)
    assert list(solution.chosen) == sorted(solution.chosen)
    assert form.value(solution.chosen) == solution.value


def check_optimal(name: str, form: Form, best: int) -> None:
    """The backend takes the form and closes it at the true optimum."""
    solver = named_solver(name)
    if solver.accepts(form):
        assert not form.rational, "only an irrational h is a reason to refuse a small form"
        return
    solution = solver.solve(form, Limits())
    check_store(form, solution)
    assert solution.closed
    missing = 0 if solution.bound is not None else rounding(form)
    assert best - missing <= solution.value <= best
    assert solution.bound in (None, best)


def shuffled(package: Package, seed: int) -> Package:
    random = Random(seed)
    tables = ("experiences", "candidates", "units", "coverage")
    return package.replace(
        **{
            table: tuple(random.sample(getattr(package, table), len(getattr(package, table))))
            for table in tables
        }
    )


@pytest.mark.parametrize("name", NAMES)
def test_equals_brute_force_on_thousands_of_forms(name: str) -> None:
    for seed in range(FORMS.get(name, 2000)):
        check_optimal(name, *seeded(seed))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(
    package=packages(),
    share=st.sampled_from((0, Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), 1, 2)),
    cap=st.integers(1, 3),
)
def test_equals_brute_force_on_any_package(
    name: str, package: Package, share: Fraction, cap: int
) -> None:
    form = integer_form(package)
    form = form.at(Fraction(sum(form.cost), form.cost_scale) * share, cap)
    check_optimal(name, form, BruteForce().solve(form, Limits()).value)


@pytest.mark.parametrize("name", NAMES)
def test_names_do_not_matter(name: str) -> None:
    """Ids that sort otherwise may break ties otherwise, but the value stays."""
    for seed in range(60):
        package = random_package(seed)
        budget = package.total_cost(package.candidate) / 2
        first, second = (
            named_solver(name).solve(integer_form(variant).at(budget, 2), Limits()).value
            for variant in (package, renamed(package, lambda id: id[::-1]))
        )
        assert first == second


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("limits", [{"seconds": 0.0}, {"nodes": 1}], ids=["no time", "one node"])
def test_early_stops_stay_valid(name: str, limits: dict[str, float]) -> None:
    """Out of time or nodes, a backend has a feasible store and never a bound below the optimum."""
    for seed in range(1, 200):
        form, best = seeded(seed)
        solver = named_solver(name)
        if solver.accepts(form):
            continue
        solution = solver.solve(form, Limits(**limits))  # type: ignore[arg-type]
        check_store(form, solution)
        assert solution.bound is None or solution.bound >= best
        if solution.closed:
            assert solution.value >= best - rounding(form)


@pytest.mark.parametrize("name", NAMES)
def test_a_hint_is_never_lost(name: str) -> None:
    """The result is at least as good as the feasible store the search began with."""
    for seed in range(1, 100):
        form, best = seeded(seed)
        hint = BruteForce().solve(form, Limits()).chosen
        for limits in (Limits(), Limits(seconds=0.0)):
            if not named_solver(name).accepts(form):
                assert named_solver(name).solve(form, limits, hint).value == best


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("irrational", [False, True])
def test_solving_twice_gives_the_same(name: str, irrational: bool) -> None:
    """No clock, hash seed or leftover state shows in the store."""
    for seed in range(20):
        form = random_form(seed, irrational)
        if not named_solver(name).accepts(form):
            first, second = (named_solver(name).solve(form, Limits()) for _ in range(2))
            assert (first.chosen, first.proof) == (second.chosen, second.proof)


def test_names() -> None:
    """Those of the registry agree, and an unknown one is told the known ones."""
    assert all(named_solver(name).name == name for name in SOLVERS)
    with pytest.raises(UnknownSolver, match=r"'cplex'.*brute, .*highs, .*reference"):
        named_solver("cplex")

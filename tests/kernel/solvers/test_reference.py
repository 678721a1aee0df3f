"""The reference solver where brute force cannot follow, and its proofs under the real checker."""

from fractions import Fraction
from typing import Any

import pytest

from memaudit.kernel.solvers.form import granularity, integer_form
from memaudit.kernel.solvers.protocol import Limits
from memaudit.kernel.solvers.reference import BruteForce, Reference, Tree, greedy
from memaudit.kernel.solvers.solve import solve
from tests.kernel.solvers.random_forms import knapsack, random_form, random_package


def test_depth_is_no_problem() -> None:
    """A search through more groups than Python's recursion limit."""
    size = 1500
    values = [Fraction(1 + 7 * n % 3, 4) for n in range(size)]
    form = knapsack(values, [2 + 2 * (n % 5) for n in range(size)])
    form = form.at(Fraction(sum(form.cost) // 2 + 1), 1)
    solution = Reference().solve(form, Limits(nodes=1600))
    assert form.feasible(solution.chosen)
    assert solution.bound is not None
    assert solution.bound >= solution.value


def test_fine_coverage_needs_no_table() -> None:
    """A unit with more than 65,536 levels is still solved exactly."""
    values = [Fraction(99_991, 100_003), Fraction(1, 3), Fraction(99_990, 100_003)]
    form = knapsack(values, [2, 1, 1])
    assert form.levels[0].table is None
    solution = Reference().solve(form.at(Fraction(2), 1), Limits())
    assert solution.closed
    assert solution.chosen == (1, 2)


@pytest.mark.parametrize("calls", range(0, 60, 7))
def test_interrupts_leave_a_valid_bound(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C at any moment gives a bound, never a wrong optimum."""
    form = integer_form(random_package(20, groups=8, units=6))
    form = form.at(Fraction(sum(form.cost), 3 * form.cost_scale), 2)
    best = Reference().solve(form, Limits())
    left = calls
    measure = Tree.bound

    def interrupted(self: Tree, options: list[int], mu: int) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return measure(self, options, mu)

    monkeypatch.setattr(Tree, "bound", interrupted)
    solution = Reference().solve(form, Limits())
    assert solution.bound is not None
    assert solution.value <= best.value <= solution.bound
    assert solution.closed == (solution.proof is not None) == (left >= 0)


def test_limits_tighten_with_effort() -> None:
    """Every node limit gives a valid interval; enough nodes close it."""
    form = integer_form(random_package(7, groups=8, units=6))
    form = form.at(Fraction(sum(form.cost), 3 * form.cost_scale), 1)
    best = Reference().solve(form, Limits())
    nodes: Any = best.statistics["nodes"]
    for limit in range(1, nodes + 2):
        solution = Reference().solve(form, Limits(nodes=limit))
        assert solution.bound is not None
        assert solution.value <= best.value <= solution.bound
    assert solution.closed


def test_every_value_is_a_multiple_of_the_granularity() -> None:
    """The step that lets bounds close early divides every store's value."""
    for seed in range(300):
        form = random_form(seed, irrational=seed % 3 == 0)
        step = granularity(form)
        stores = [(), greedy(form), tuple(range(len(form.rows)))]
        stores += [(candidate,) for candidate in range(len(form.rows))]
        assert all(form.value(store) % step == 0 for store in stores)


def test_granularity_sees_through_the_scaling() -> None:
    """Coverage in halves of a unit of weight 1 comes in steps of one half."""
    form = knapsack([Fraction(1, 2), Fraction(1), Fraction(1)], [1, 1, 1])
    assert Fraction(granularity(form), form.value_scale) == Fraction(1, 2)


def test_greedy_is_feasible_and_never_above_the_optimum() -> None:
    for seed in range(300):
        form = random_form(seed, irrational=seed % 3 == 0)
        start = greedy(form)
        assert form.feasible(start)
        assert form.value(start) <= BruteForce().solve(form, Limits()).value


@pytest.mark.parametrize("irrational", [False, True])
def test_the_checker_agrees(irrational: bool) -> None:
    """Certificates made of these tapes pass the real check, from the package up."""
    for seed in range(300):
        package = random_package(seed, irrational, groups=6)
        budget = package.total_cost(package.candidate) * (seed % 5) / 5
        optimum = solve(package, budget, 1 + seed % 3, "reference")
        assert optimum.certified, (seed, optimum.note)

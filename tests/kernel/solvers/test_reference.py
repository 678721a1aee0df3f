"""The reference solver where brute force cannot follow, and its proofs under the real checker."""

from fractions import Fraction
from typing import Any

import pytest

from memaudit.kernel.solvers.form import granularity, integer_form
from memaudit.kernel.solvers.protocol import Limits
from memaudit.kernel.solvers.reference import BruteForce, Reference, Tree, greedy
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


def test_granularity_and_greedy() -> None:
    """The step that lets bounds close early divides the value of every store; the store that the
    search begins with is feasible and never above the optimum."""
    for seed in range(300):
        form = random_form(seed, irrational=seed % 3 == 0)
        step, start = granularity(form), greedy(form)
        stores = [(), start, tuple(range(len(form.rows)))]
        stores += [(candidate,) for candidate in range(len(form.rows))]
        assert all(form.value(store) % step == 0 for store in stores)
        assert form.feasible(start)
        assert form.value(start) <= BruteForce().solve(form, Limits()).value


def test_granularity_sees_through_the_scaling() -> None:
    """Coverage in halves of a unit of weight 1 comes in steps of one half."""
    form = knapsack([Fraction(1, 2), Fraction(1), Fraction(1)], [1, 1, 1])
    assert Fraction(granularity(form), form.value_scale) == Fraction(1, 2)

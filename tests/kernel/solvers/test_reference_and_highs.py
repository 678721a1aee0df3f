"""The reference solver where brute force cannot follow, HiGHS where floating point shows."""

from fractions import Fraction
from typing import Any

import pytest

from memaudit.kernel.package.response import Capped, Piecewise, Sqrt
from memaudit.kernel.solvers.form import granularity, integer_form
from memaudit.kernel.solvers.highs import MOST_LEVELS, Highs, _corners, _segments
from memaudit.kernel.solvers.protocol import Limits
from memaudit.kernel.solvers.reference import BruteForce, Reference, Tree, greedy
from tests.kernel.solvers.random_forms import knapsack, random_form, random_package
from tests.proofs import Cell, package


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
    """The step that lets bounds close early divides the value of every store: coverage in
    halves of a unit of weight 1 comes in steps of one half. The store that the search
    begins with is feasible and never above the optimum."""
    for seed in range(300):
        form = random_form(seed, irrational=seed % 3 == 0)
        step, start = granularity(form), greedy(form)
        stores = [(), start, tuple(range(len(form.rows)))]
        stores += [(candidate,) for candidate in range(len(form.rows))]
        assert all(form.value(store) % step == 0 for store in stores)
        assert form.feasible(start)
        assert form.value(start) <= BruteForce().solve(form, Limits()).value
    form = knapsack([Fraction(1, 2), Fraction(1), Fraction(1)], [1, 1, 1])
    assert Fraction(granularity(form), form.value_scale) == Fraction(1, 2)


HALF, THIRD, WHOLE = Fraction(1, 2), Fraction(1, 3), Fraction(1)
CELLS: list[Cell] = [("a", "u", 1), ("b", "u", 1), ("c", "u", "1/6")]


def test_what_tolerance_let_through_is_dropped_and_counted() -> None:
    """Two memories exceed the budget by less than a float can say: one goes. Values a
    millionth apart are distinguished, which the default gap of 1e-4 would not."""
    form = knapsack([WHOLE, HALF], [10**20, 10**20 + 1]).at(Fraction(2 * 10**20), 1)
    solution = Highs().solve(form, Limits())
    assert form.feasible(solution.chosen)
    assert solution.chosen == (0,)
    assert solution.statistics["dropped"] == 1
    assert not solution.closed
    near = Fraction(999_999, 1_000_000)
    form = knapsack([near, WHOLE, near], [1, 1, 1]).at(Fraction(1), 1)
    assert Highs().solve(form, Limits()).chosen == (1,)


@pytest.mark.parametrize("solver", [Highs(), Reference()], ids=lambda solver: solver.name)
def test_fine_coverage_uses_the_shape_of_h(solver: Highs | Reference) -> None:
    """Units with too many levels for a table are solved exactly, by HiGHS at the corners of h."""
    bent = Piecewise(points=((HALF, HALF), (WHOLE, Fraction(3, 4))))
    values = [Fraction(99_991, 100_003), THIRD, Fraction(99_990, 100_003)]
    for form in (knapsack(values, [2, 1, 1]), knapsack(values, [2, 1, 1], bent)):
        assert form.levels[0].table is None
        assert solver.accepts(form) == ""
        assert solver.solve(form.at(Fraction(2), 1), Limits()).chosen == (1, 2)


def test_an_irrational_h_on_a_fine_grid_is_refused_with_a_reason() -> None:
    form = knapsack([Fraction(MOST_LEVELS + 1, MOST_LEVELS + 2)], [1], Sqrt())
    assert "00000" in Highs().accepts(form)
    assert Highs().accepts(knapsack([THIRD], [1], Sqrt())) == ""


def test_corners_count_from_what_is_given() -> None:
    """The lowest of the lines through them is the value of every level on top of it."""
    bent = Piecewise(points=((HALF, HALF), (WHOLE, Fraction(3, 4)), (2 * WHOLE, WHOLE)))
    for response in (bent, Capped(cap=Fraction(5, 4))):
        level = integer_form(package("a:e:1 b:f:1 c:g:1", {"u": 12}, CELLS, response)).levels[0]
        for given in range(level.top):
            left = level.after(given)
            lines = _segments(_corners(left))
            most = _corners(left)[-1][1]
            for more in range(left.top + 1):
                values = [slope * more + rest for slope, rest in lines]
                assert min([most, *values]) == left.value(more)
        assert _corners(level.after(level.top))[-1][1] == 0

"""HiGHS where floating point shows: tolerances, huge numbers, fine coverage."""

from fractions import Fraction

import pytest

from memaudit.kernel.package.response import Capped, Piecewise, Sqrt
from memaudit.kernel.solvers.form import integer_form
from memaudit.kernel.solvers.highs import MOST_LEVELS, Highs, _corners, _segments
from memaudit.kernel.solvers.protocol import Limits
from memaudit.kernel.solvers.reference import Reference
from tests.kernel.solvers.random_forms import knapsack
from tests.proofs import Cell, package

HALF, THIRD, WHOLE = Fraction(1, 2), Fraction(1, 3), Fraction(1)
CELLS: list[Cell] = [("a", "u", 1), ("b", "u", 1), ("c", "u", "1/6")]


def test_what_tolerance_let_through_is_dropped_and_counted() -> None:
    """Two memories exceed the budget by less than a float can say: one goes."""
    form = knapsack([WHOLE, HALF], [10**20, 10**20 + 1]).at(Fraction(2 * 10**20), 1)
    solution = Highs().solve(form, Limits())
    assert form.feasible(solution.chosen)
    assert solution.chosen == (0,)
    assert solution.statistics["dropped"] == 1
    assert not solution.closed


def test_values_a_millionth_apart_are_told_apart() -> None:
    """The default gap of 1e-4 would call either store optimal."""
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

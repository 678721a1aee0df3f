"""`frontier` against `solve` at every budget, by both of its methods."""

from dataclasses import replace
from fractions import Fraction

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.objective import value
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers import frontier as module
from memaudit.kernel.solvers.form import Form, integer_form
from memaudit.kernel.solvers.frontier import (
    BUDGET_BY_BUDGET,
    COMPONENTS,
    MOST_BUDGETS,
    SWEEP,
    Part,
    frontier,
)
from memaudit.kernel.solvers.protocol import Limits, Solution
from memaudit.kernel.solvers.reference import BruteForce
from memaudit.kernel.solvers.registry import Auto
from memaudit.kernel.solvers.solve import solve
from tests.kernel.solvers.random_forms import random_package
from tests.kernel.solvers.test_fast import talk
from tests.kernel.solvers.test_hull import random_package as two_levels


def halved(package: Package) -> Package:
    """At half the costs: budgets stay whole where costs are not."""
    return package.replace(
        candidates=tuple(
            candidate.model_copy(update={"cost": candidate.cost / 2})
            for candidate in package.candidates
        )
    )


@pytest.mark.parametrize("cap", [1, 2, 3])
def test_equals_brute_force_at_every_budget(cap: int) -> None:
    """Fractional costs and every h; where h is irrational, the upper ends."""
    for seed in range(60):
        package = random_package(seed, irrational=seed % 3 == 0)
        form = integer_form(package)
        found = frontier(package, 8, cap)
        best = [
            BruteForce().solve(form.at(Fraction(budget), cap), Limits()).value
            for budget in range(9)
        ]
        assert found.values == tuple(Fraction(value, form.value_scale) for value in best)
        assert (found.group_cap, len(found.values)) == (cap, 9)


def test_components_equal_budget_by_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversation without cross-session memories falls apart: one programme for all budgets."""
    package = talk(0, sessions=2)
    whole, half = frontier(package, 120), frontier(halved(package), 60)
    monkeypatch.setattr(module, "_components", lambda _: None)
    single = frontier(package, 120)
    assert (whole.method, half.method, single.method) == (COMPONENTS, COMPONENTS, BUDGET_BY_BUDGET)
    assert whole.values == single.values
    assert half.values == whole.values[::2]


@pytest.mark.parametrize("seed", range(6))
def test_one_programme_equals_solve(seed: int) -> None:
    """Units with two levels: every budget, by a sweep. Each store is worth what its step says."""
    package = two_levels(100 + seed, 70 + 10 * seed, 25)
    subject = halved(package) if seed % 2 else package
    found = frontier(subject, 60, threads=1 + seed % 3)
    assert found.method == SWEEP
    for budget in (0, 1, 7, 20, 33, 49, 50, 51, 60):
        assert found.values[budget] == solve(subject, budget, check=False).value
    for budget, best in found.steps():
        assert value(subject, found.stores[budget]).low == best
        assert subject.total_cost(found.stores[budget]) <= budget
    again = solve(subject, 20, hint=found.store_at(20))
    assert again.certified
    assert again.value == found.values[20]


def test_budgets_that_a_sweep_cannot_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are solved on their own, and the sweep goes on below them."""
    package = two_levels(7, 80, 30)
    whole = frontier(package, 160)
    monkeypatch.setattr(module, "MOST_NODES", 0)
    again = frontier(package, 160)
    assert (again.values, again.method) == (whole.values, SWEEP)


def test_parts_that_are_known_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    package = two_levels(7, 80, 30)
    kept: list[Part] = []
    whole = frontier(package, 160, threads=2, keep=kept.append)
    assert len(kept) > 3
    again: list[Part] = []
    assert frontier(package, 160, known=kept[:2], keep=again.append) == whole
    assert again == kept[2:]
    smaller = [replace(part, first=part.first + 1) for part in kept[1:]]  # of another part size
    assert frontier(package, 160, known=smaller) == whole
    monkeypatch.setattr(module._Sweep, "solve", None)  # nothing is left to solve
    assert frontier(package, 160, known=kept) == whole


def test_steps(tiny: Package) -> None:
    """Budget 0 and every budget where the optimum rises; progress is told."""
    seen: list[tuple[int, int]] = []
    found = frontier(tiny, 5, progress=lambda done, total: seen.append((done, total)))
    assert found.values == (0, 1, 2, 3, 3, 3)
    assert found.steps() == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert seen == sorted(seen)
    assert seen[-1] == (6, 6)


def test_edges(tiny: Package) -> None:
    """Budget 0, fractions of a budget, and budgets that mean nothing."""
    assert frontier(tiny, 0).values == (0,)
    assert len(frontier(tiny, "5/2").values) == 3
    with pytest.raises(MemAuditError, match="budget -1 is negative"):
        frontier(tiny, -1)
    with pytest.raises(MemAuditError, match="more than 10,000,000 budgets"):
        frontier(tiny, MOST_BUDGETS + 1)
    with pytest.raises(MemAuditError, match="group cap must be at least 1, not 0"):
        frontier(tiny, 3, 0)


def test_an_unproven_point_is_an_error(tiny: Package, monkeypatch: pytest.MonkeyPatch) -> None:

    def stopped(self: Auto, form: Form, *_: object) -> Solution:  # noqa: ARG001
        return Solution((), 0, form.value(range(len(form.rows))), closed=False)

    monkeypatch.setattr(Auto, "solve", stopped)
    with pytest.raises(MemAuditError, match="stopped at budget 3: its optimum is not proven"):
        frontier(tiny, 3)

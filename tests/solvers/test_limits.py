"""Early ends: whatever stops a solve, its bound holds and nothing unproven is called certified."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from bench.families import family
from bench.instance import Instance, as_package
from memaudit.checker import Verdict
from memaudit.core.objective import violations
from memaudit.core.package import Package
from memaudit.solvers import solve as solve_module
from memaudit.solvers.compiled import stage
from memaudit.solvers.fast import Fast, solve_packed
from memaudit.solvers.form import integer_form
from memaudit.solvers.protocol import Limits
from memaudit.solvers.solve import solve

HARD = [*family("H", [101])[:2], *family("E", [101])[:2]]


@pytest.fixture(scope="module")
def optima() -> dict[str, int]:
    """The true optima, in the instances' own numbers."""
    found = {instance.name: solve_packed(instance.packed, Limits()) for instance in HARD}
    assert all(closed for _, _, closed, _ in found.values())
    return {name: value for name, (value, *_) in found.items()}


@pytest.mark.parametrize("instance", HARD, ids=lambda one: one.name)
@pytest.mark.parametrize(
    "limits",
    [{"seconds": 0.0}, {"seconds": 0.01}, {"seconds": 0.1}, {"nodes": 1}, {"nodes": 20}],
    ids=str,
)
def test_limits_leave_a_valid_bound(
    instance: Instance, limits: dict[str, Any], optima: dict[str, int]
) -> None:
    """value <= OPT <= bound, and closed only at OPT."""
    value, _, closed, bound = solve_packed(instance.packed, Limits(**limits))
    best = optima[instance.name]
    assert 0 < value <= best <= bound
    assert not closed or value == bound == best


@pytest.mark.parametrize("instance", HARD[:2], ids=lambda one: one.name)
def test_the_bound_is_worth_having(instance: Instance) -> None:
    """A second on a dense package brings it within a fifth of the store's value."""
    package = as_package(instance)
    budget = instance.packed.budget
    optimum = solve(package, budget, solver="fast", seconds=1, check=False)
    assert optimum.value <= optimum.bound <= optimum.value * Fraction(6, 5)
    assert violations(package, optimum.store, Fraction(budget), 1) == []


def test_out_of_time_is_a_bound() -> None:
    """The status, the note and the missing certificate say so."""
    package = as_package(HARD[1])
    optimum = solve(package, 200, solver="fast", seconds=0)
    assert (optimum.status, optimum.note) == ("bound", "stopped early")
    assert optimum.certificate is None
    assert optimum.gap > 0


@pytest.mark.parametrize("calls", [0, 1, 2, 5, 40])
def test_interrupts_leave_a_valid_bound(
    calls: int, monkeypatch: pytest.MonkeyPatch, optima: dict[str, int]
) -> None:
    """Ctrl-C before, at and after the root: a feasible store, and no bound below OPT."""
    form = integer_form(as_package(HARD[0])).at(Fraction(HARD[0].packed.budget), 1)
    best = optima[HARD[0].name]
    left = calls
    visit: Callable[..., Any] = stage.visit

    def interrupted(*arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return visit(*arguments)

    monkeypatch.setattr(stage, "visit", interrupted)
    limits = Limits()
    solution = Fast().solve(form, limits)
    assert limits.interrupted
    assert not solution.closed
    assert solution.proof is None
    assert form.feasible(solution.chosen)
    assert form.value(solution.chosen) == solution.value
    assert solution.bound is not None
    assert solution.value <= best <= solution.bound


def test_a_refused_certificate_is_a_bound(tiny: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker has the last word, and its reason is passed on."""
    monkeypatch.setattr(
        solve_module.PackageChecker, "verify", lambda *_: Verdict(False, "leaf 3: no")
    )
    optimum = solve(tiny, 3)
    assert (optimum.status, optimum.note) == ("bound", "certificate refused: leaf 3: no")
    assert optimum.bound >= optimum.value == 3


@pytest.mark.parametrize("solver", ["auto", "fast", "reference"])
def test_unchecked_is_not_certified(tiny: Package, solver: str) -> None:
    """check=False gives the certificate, but no claim."""
    optimum = solve(tiny, 3, solver=solver, check=False)
    assert (optimum.status, optimum.note) == ("bound", "certificate not checked")
    assert optimum.certificate is not None


def test_the_clock_stops_while_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the time that is reported nor the time limit counts it, even if it is broken off."""
    now = 100.0
    monkeypatch.setattr("memaudit.solvers.protocol.time.monotonic", lambda: now)
    limits = Limits(seconds=10, started=now)

    def compile_for(seconds: float, fails: bool) -> None:
        nonlocal now
        now += seconds
        if fails:
            raise KeyboardInterrupt

    now += 2
    limits.wait_for(lambda: compile_for(60, fails=False))
    with pytest.raises(KeyboardInterrupt):
        limits.wait_for(lambda: compile_for(30, fails=True))
    assert (limits.spent, limits.left) == (2, 8)

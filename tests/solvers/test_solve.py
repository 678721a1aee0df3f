"""Early ends and near ties: a bound holds whatever stops a solve, and only proofs are certified."""

from collections.abc import Callable
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import pytest

from bench.families import family
from bench.instance import Instance, as_package
from memaudit.checker import Verdict
from memaudit.core.objective import violations
from memaudit.core.package import Candidate, Coverage, EvidenceUnit, Experience, Package
from memaudit.core.response import Response, Saturating, Sqrt
from memaudit.solvers import solve as solve_module
from memaudit.solvers.brute import BruteForce
from memaudit.solvers.compiled import stage
from memaudit.solvers.fast import Fast, solve_packed
from memaudit.solvers.form import Form, integer_form
from memaudit.solvers.protocol import Limits
from memaudit.solvers.reference import greedy
from memaudit.solvers.solve import near_ties, solve
from tests.solvers.random_forms import random_form

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


def two_choices(response: Response, first: Fraction, second: Fraction) -> Form:
    """One of two memories fits; each covers a unit of its own."""
    package = Package(
        name="two",
        experiences=(Experience(id="e0", index=0), Experience(id="e1", index=1)),
        candidates=tuple(
            Candidate(id=f"m{i}", experience=f"e{i}", kind="fact", cost=Fraction(1)) for i in (0, 1)
        ),
        units=tuple(
            EvidenceUnit(id=f"u{i}", kind="fact", weight=Fraction(1), response=response)
            for i in (0, 1)
        ),
        coverage=(
            Coverage(candidate="m0", unit="u0", value=first),
            Coverage(candidate="m1", unit="u1", value=second),
        ),
    )
    return integer_form(package).at(Fraction(1), 1)


def by_enumeration(form: Form, chosen: tuple[int, ...]) -> bool:
    """The definition, store by store."""

    def signature(store: tuple[int, ...]) -> list[int]:
        amounts = form.cover(store)
        return [
            level.value(amounts.get(unit, 0))
            if level.response.is_rational
            else amounts.get(unit, 0)
            for unit, level in enumerate(form.levels)
        ]

    every = range(len(form.rows))
    stores = chain.from_iterable(combinations(every, size) for size in range(len(every) + 1))
    return any(
        form.feasible(store)
        and form.value(store) > form.low(chosen)
        and signature(store) != signature(chosen)
        for store in stores
    )


def test_agrees_with_the_definition() -> None:
    """On small forms the search finds a near tie exactly where enumeration does."""
    answers = set()
    for seed in range(300):
        form = random_form(seed, irrational=True)
        best = BruteForce().solve(form, Limits()).chosen
        for chosen in (best, greedy(form), best[:-1]):
            if len(form.rows) <= 8:
                answer = near_ties(form, chosen, Limits())
                assert answer == by_enumeration(form, chosen)
                answers.add(answer)
    assert answers == {True, False}


def test_clear_winners_are_decided() -> None:
    """sqrt(1/2) and sqrt(1/3) are far apart."""
    assert near_ties(two_choices(Sqrt(), Fraction(1, 2), Fraction(1, 3)), (0,), Limits()) is False


def test_equal_irrational_values_cannot_be_told_apart() -> None:
    """Two units with the same irrational value tie, and 32 bits cannot say which is more."""
    form = two_choices(Saturating(), Fraction(1, 2), Fraction(1, 2))
    assert near_ties(form, (0,), Limits()) is True


def test_giving_up_is_said() -> None:
    """Without nodes there is no answer."""
    form = two_choices(Sqrt(), Fraction(1, 2), Fraction(1, 3))
    assert near_ties(form, (0,), Limits(nodes=0)) is None

"""Early ends, near ties and ties: bounds hold whatever stops a solve; only proofs certify."""

from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import pytest

from bench.families import family
from bench.instance import Instance, as_package
from memaudit.kernel.checker import PackageChecker, Verdict
from memaudit.kernel.package.objective import violations
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import Response, Saturating, Sqrt
from memaudit.kernel.solvers import protocol
from memaudit.kernel.solvers.compiled import stage
from memaudit.kernel.solvers.compiled.bound import visit
from memaudit.kernel.solvers.fast import Fast, solve_packed
from memaudit.kernel.solvers.form import Form, integer_form
from memaudit.kernel.solvers.protocol import Limits
from memaudit.kernel.solvers.reference import BruteForce, greedy
from memaudit.kernel.solvers.registry import SOLVERS
from memaudit.kernel.solvers.solve import SolveProgress, near_ties, solve, solve_all
from memaudit.kernel.solvers.tie_breaking import canonical_order, undominated, without_waste
from tests.kernel.solvers.random_forms import random_form, random_package
from tests.kernel.solvers.test_conformance import shuffled
from tests.kernel.solvers.test_hull import random_package as two_levels
from tests.proofs import package as hand_made

HARD = [*family("H", [101])[:2], *family("E", [101])[:2]]


@pytest.fixture(scope="module")
def optima() -> dict[str, int]:
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


@pytest.mark.parametrize("instance", HARD[:2], ids=lambda one: one.name)
def test_threads_change_nothing_but_the_time(instance: Instance) -> None:
    """The same store and the same proof; several budgets at a time are the same optima."""
    package, budget = as_package(instance), instance.packed.budget
    one, three = (solve(package, budget, threads=threads, check=False) for threads in (1, 3))
    assert (one.store, one.certificate) == (three.store, three.certificate)
    budgets = [budget // 4, budget // 3, budget // 2]
    apart, together = (solve_all(package, budgets, threads=threads) for threads in (1, 3))
    assert [(o.store, o.certificate) for o in apart] == [(o.store, o.certificate) for o in together]
    assert all(optimum.certified for optimum in together)


@pytest.mark.parametrize("levels", ["many", "two"])
def test_progress_closes_in(levels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values rise and bounds fall, to the optimum that is reported in the end."""
    monkeypatch.setattr(protocol, "TELL_EVERY", 0.0)
    package, budget = as_package(HARD[1]), HARD[1].packed.budget
    if levels == "two":
        package, budget = two_levels(40, 182, 57), 9
    told: list[tuple[int, int | None]] = []
    form = integer_form(package).at(Fraction(budget), 1)
    limits = Limits(progress=lambda value, bound, _: told.append((value, bound)))
    best = Fast().solve(form, limits).value
    assert len(told) > 2
    assert all(value <= best for value, _ in told)
    assert all(bound is None or bound >= best for _, bound in told)
    shown: list[SolveProgress] = []
    solve(package, budget, progress=shown.append)
    values, bounds = [one.value for one in shown], [one.bound for one in shown if one.bound]
    assert values == sorted(values)
    assert bounds == sorted(bounds, reverse=True)


def test_a_hint_that_is_no_store_is_ignored(tiny: Package) -> None:
    best = solve(tiny, 3)
    for hint in (["nobody"], [candidate.id for candidate in tiny.candidates], best.store):
        assert solve(tiny, 3, hint=hint).value == best.value


@pytest.mark.parametrize("calls", [0, 1, 2, 5, 40])
def test_interrupts_leave_a_valid_bound(
    calls: int, monkeypatch: pytest.MonkeyPatch, optima: dict[str, int]
) -> None:
    """Ctrl-C before, at and after the root: a feasible store, and no bound below OPT."""
    form = integer_form(as_package(HARD[0])).at(Fraction(HARD[0].packed.budget), 1)
    best = optima[HARD[0].name]
    left = calls

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
    """And what is left where the time is over."""
    monkeypatch.setattr(PackageChecker, "verify", lambda *_: Verdict(False, "leaf 3: no"))
    optimum = solve(tiny, 3)
    assert (optimum.status, optimum.note) == ("bound", "certificate refused: leaf 3: no")
    assert optimum.bound >= optimum.value == 3
    package = as_package(HARD[1])
    optimum = solve(package, 200, solver="fast", seconds=0)
    assert (optimum.status, optimum.note) == ("bound", "stopped early")
    assert optimum.certificate is None
    assert optimum.gap > 0


@pytest.mark.parametrize("solver", ["auto", "fast", "reference"])
def test_unchecked_is_not_certified(tiny: Package, solver: str) -> None:
    """check=False gives the certificate, but no claim."""
    optimum = solve(tiny, 3, solver=solver, check=False)
    assert (optimum.status, optimum.note) == ("bound", "certificate not checked")
    assert optimum.certificate is not None


def test_the_clock_stops_while_kernels_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the time that is reported nor the time limit counts it, even if it is broken off."""
    now = 100.0
    monkeypatch.setattr("memaudit.kernel.solvers.protocol.time.monotonic", lambda: now)
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
    cells = [("m0", "u0", first), ("m1", "u1", second)]
    made = hand_made("m0:e0:1 m1:e1:1", {"u0": 1, "u1": 1}, cells, response)
    return integer_form(made).at(Fraction(1), 1)


def by_enumeration(form: Form, chosen: tuple[int, ...]) -> bool:

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


TIED = hand_made(
    "z:early:1 b:late:2 a:late:2 c:late:1",
    {"u": 1},
    [(id, "u", 1) for id in "abcz"],
    experiences=[{"id": "late", "index": 7}, {"id": "early", "index": 2}],
)


def test_the_rules() -> None:
    assert [candidate.id for candidate in canonical_order(TIED)] == ["z", "a", "b", "c"]
    form = integer_form(TIED).at(Fraction(9), 1)
    assert [form.candidate_ids[u] for u in undominated(form)] == ["z", "c"]
    # The most expensive goes first, among equals the last: b, then a, then c.
    assert without_waste(form, (0, 1, 2, 3)) == (0,)
    assert without_waste(form, (1, 2)) == (1,)


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_no_store_holds_waste_and_row_order_does_not_matter(name: str) -> None:
    assert solve(TIED, 9, solver=name).store == (("a",) if name == "brute" else ("z",))
    for seed in range(40):
        package = random_package(seed)
        budget = package.total_cost(package.candidate) / 2
        stores = {
            solve(variant, budget, solver=name).store
            for variant in (package, shuffled(package, seed))
        }
        assert len(stores) == 1
        form = integer_form(package)
        chosen = tuple(form.candidate_ids.index(id) for id in stores.pop())
        assert without_waste(form, chosen) == tuple(sorted(chosen))


def test_near_ties_by_hand() -> None:
    """1/2 and 1/3 are far apart; 32 bits cannot distinguish equal values; no nodes, no answer."""
    apart = two_choices(Sqrt(), Fraction(1, 2), Fraction(1, 3))
    equal = two_choices(Saturating(), Fraction(1, 2), Fraction(1, 2))
    assert near_ties(apart, (0,), Limits()) is False
    assert near_ties(equal, (0,), Limits()) is True
    assert near_ties(apart, (0,), Limits(nodes=0)) is None

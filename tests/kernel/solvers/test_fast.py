"""The fast solver: its large path on small forms, both ways of its small search, real sizes."""

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from bench.families import Shape, conversation, family
from bench.instance import Instance, as_package
from memaudit.kernel.checker import verify
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers import fast
from memaudit.kernel.solvers.fast import Fast, solve_batch, solve_packed
from memaudit.kernel.solvers.form import integer_form
from memaudit.kernel.solvers.highs import Highs
from memaudit.kernel.solvers.packed import pack
from memaudit.kernel.solvers.protocol import Limits
from memaudit.kernel.solvers.reference import BruteForce, Reference
from memaudit.kernel.solvers.registry import Auto
from memaudit.kernel.solvers.solve import solve
from tests.kernel.solvers.random_forms import knapsack, random_form, random_package
from tests.kernel.solvers.test_conformance import check_store, shuffled

SHARES = [Fraction(text) for text in ["0", "1/5", "1/3", "1/2", "3/4", "2"]]


@pytest.fixture
def large_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """No problem is small: blocks, multipliers and branching for all."""
    monkeypatch.setattr(fast, "SMALL", -1)


def talk(cross: int, sessions: int = 4) -> Package:
    """A short conversation of some 200 candidates; `cross` memories span its sessions."""
    shape = Shape(sessions, (10, 14), 0.7, 40, cross)
    return as_package(Instance("talk", conversation(Random(f"talk/{cross}"), shape).packed(0)))


@pytest.mark.usefixtures("large_path")
def test_the_large_path_equals_brute_force() -> None:
    """Every cap, every h, ties, free and unaffordable candidates, nothing to choose from."""
    for seed in range(1500):
        form = random_form(seed, irrational=seed % 3 == 0)
        solution = Fast().solve(form, Limits())
        check_store(form, solution)
        best = BruteForce().solve(form, Limits()).value
        assert (solution.closed, solution.value, solution.bound) == (True, best, best), seed
        assert solution.proof is not None


@pytest.mark.usefixtures("large_path")
@pytest.mark.parametrize("solver", ["fast", "reference"])
@pytest.mark.parametrize("irrational", [False, True])
def test_certificates_hold(solver: str, irrational: bool) -> None:
    """Of the large path and of the reference: the real check, from the package up."""
    for seed in range(400):
        package = random_package(seed, irrational, groups=6)
        budget = package.total_cost(package.candidate) * SHARES[seed % 6]
        optimum = solve(package, budget, 1 + seed % 3, solver)
        assert optimum.certified, (seed, optimum.note)


@pytest.mark.usefixtures("large_path")
@pytest.mark.parametrize("seed", range(8))
def test_larger_random_packages(seed: int) -> None:
    """Beyond brute force, the reference solver's optimum."""
    package = random_package(seed + 50, seed % 4 == 3, groups=10, units=8)
    form = integer_form(package)
    total = Fraction(sum(form.cost), form.cost_scale)
    for cap in (1, 2, 3):
        optimum = solve(package, total / 3, cap, "fast")
        assert optimum.certified, optimum.note
        best = Reference().solve(form.at(total / 3, cap), Limits()).value
        assert (optimum.value_high or optimum.value) == Fraction(best, form.value_scale)


@pytest.mark.usefixtures("large_path")
def test_nothing_to_choose_from(tiny: Package) -> None:
    """No candidates, no weighted units, no coverage, no budget: the empty store, certified."""
    bare = tiny.replace(candidates=(), coverage=())
    unasked = tiny.replace(
        queries=(),
        units=tuple(unit.model_copy(update={"weight": Fraction(0)}) for unit in tiny.units),
    )
    for package in (bare, unasked, tiny.replace(coverage=())):
        optimum = solve(package, 5, solver="fast")
        assert (optimum.certified, optimum.value, optimum.store) == (True, 0, ())
    assert solve(tiny, 0, solver="fast").store == ()


def test_plain_and_compiled_small_search_are_the_same() -> None:
    """Same store, same value, same tape: a first solve does not differ from later ones."""
    compared = 0
    for seed in range(300):
        form = random_form(seed)
        packed = pack(form)
        assert packed is not None
        slack = np.zeros(len(packed.tops), np.int64)
        plain, compiled = (
            fast._small(packed, Limits(), slack, 10_000, how) for how in (False, True)
        )
        assert plain is not None
        assert compiled is not None
        assert plain.chosen == compiled.chosen
        assert (plain.value, plain.proof) == (compiled.value, compiled.proof)
        compared += len(plain.chosen) > 1
    assert compared > 50


@pytest.mark.parametrize("name", ["A", "B"])
def test_a_batch_equals_one_by_one(name: str) -> None:
    problems = [instance.packed for instance in family(name)]
    together = solve_batch(problems, Limits())
    assert together == [solve_packed(packed, Limits()) for packed in problems]
    assert all(closed for _, _, closed, _ in together)
    assert solve_batch(problems[::-1], Limits()) == together[::-1]


def test_a_batch_of_random_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Caps, empty groups and empty problems mixed; what stays open goes on alone."""
    forms = [random_form(seed) for seed in range(200)]
    problems = [packed for form in forms if (packed := pack(form)) is not None]
    best = [BruteForce().solve(form, Limits()).value for form in forms]
    assert [value for value, *_ in solve_batch(problems, Limits())] == best
    monkeypatch.setattr(fast, "SMALL_NODES", 2)
    monkeypatch.setattr(fast, "SMALL", -1)
    assert [value for value, *_ in solve_batch(problems, Limits())] == best


@pytest.mark.parametrize(
    ("cross", "sessions", "cap"), [(0, 4, 1), (6, 4, 1), (20, 4, 1), (6, 2, 2), (6, 2, 3)]
)
def test_conversations_equal_highs(cross: int, sessions: int, cap: int) -> None:
    """Two methods, one optimum, ours with a certificate; above cap 1 no group is inside a block."""
    package = talk(cross, sessions)
    form = integer_form(package)
    assert sessions < 4 or len(form.cost) > fast.SMALL
    for budget in (0, 25, 90, 250) if cap == 1 else (90,):
        optimum = solve(package, budget, cap, "fast")
        assert optimum.certified, optimum.note
        highs = Highs().solve(form.at(Fraction(budget), cap), Limits(seconds=30))
        assert highs.closed
        assert optimum.value == Fraction(highs.value, form.value_scale)


@pytest.mark.parametrize("cross", [0, 20])
def test_conversations_give_the_same_store_every_time(cross: int) -> None:
    """Solved twice and with rows shuffled; the old certificate holds for the shuffled package."""
    package = talk(cross)
    mixed = shuffled(package, 1)
    first, second, third = (solve(one, 90, solver="fast") for one in (package, package, mixed))
    assert first.store == second.store == third.store
    assert first.certificate == second.certificate == third.certificate
    assert first.certificate is not None
    assert verify(mixed, first.certificate).valid


PRIME = 2**61 - 1


@pytest.mark.parametrize(
    ("table", "field", "awkward"),
    [
        ("candidates", "cost", lambda cost, place: cost + Fraction(1, PRIME - place)),
        ("coverage", "value", lambda value, place: value * Fraction(PRIME - 1 - place, PRIME)),
        ("units", "weight", lambda _, place: 1 + Fraction(1, PRIME - place)),
    ],
    ids=["costs", "coverage", "weights"],
)
def test_numbers_beyond_64_bits_are_solved_in_python(table: str, field: str, awkward: Any) -> None:
    """`pack` refuses them, `fast` says why, and `auto` still has the certified optimum."""
    package = random_package(11, groups=5, units=4)
    rows = [
        row.model_copy(update={field: awkward(getattr(row, field), place)})
        for place, row in enumerate(getattr(package, table))
    ]
    package = package.replace(**{table: tuple(rows)})
    form = integer_form(package)
    form = form.at(Fraction(sum(form.cost), 2 * form.cost_scale), 1)
    assert pack(form) is None
    assert "64-bit" in Fast().accepts(form)
    best = BruteForce().solve(form, Limits()).value
    assert best > 0
    optimum = solve(package, Fraction(form.budget, form.cost_scale), 1)
    assert optimum.certified, optimum.note
    assert optimum.value == Fraction(best, form.value_scale)


@pytest.mark.usefixtures("large_path")
def test_fine_coverage_grids_are_exact() -> None:
    """Coverage given to six places: levels in millionths, one more than the other still counts."""
    values = [Fraction(123_457, 10**6), Fraction(123_456, 10**6), Fraction(1, 8)]
    form = knapsack(values, [1, 1, 1]).at(Fraction(2), 1)
    solution = Auto().solve(form, Limits())
    assert (solution.closed, solution.chosen) == (True, (0, 2))
    coarse = [Fraction(f"0.{place}7") for place in range(1, 9)]
    form = knapsack(coarse, [1 + place % 3 for place in range(8)]).at(Fraction(6), 1)
    assert pack(form) is not None
    best = BruteForce().solve(form, Limits()).value
    assert Fast().solve(form, Limits()).value == best

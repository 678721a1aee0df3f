"""Candidates with parts: every backend against brute force, and certificates that hold."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memaudit.kernel.checker import verify
from memaudit.kernel.package.objective import value, violations
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import Capped, Log1p, Piecewise, Response, Sqrt
from memaudit.kernel.solvers import fast, form
from memaudit.kernel.solvers.form import Form, Level, integer_form
from memaudit.kernel.solvers.frontier import BUDGET_BY_BUDGET, frontier
from memaudit.kernel.solvers.parts import solve_with_parts
from memaudit.kernel.solvers.protocol import Limits, Solution
from memaudit.kernel.solvers.registry import SOLVERS, Auto, named_solver
from memaudit.kernel.solvers.solve import solve
from tests.kernel.solvers.random_forms import random_package_with_parts, with_parts
from tests.kernel.solvers.test_conformance import check_store, rounding
from tests.proofs import Cell, faint, package
from tests.strategies import packages

F = Fraction
PROVERS = ["auto", "fast", "reference"]

# By hand. The file f covers half of x and half of y, its entry a half of x, its entry b all of y.
# Without the rule {a, f} would be worth 3/2 for 3. With it, 4 buy {a, b}, worth 3/2, and 3 buy 1.
NOTES = with_parts(
    package(
        "a:e0:1 b:e1:3 f:e2:2",
        {"x": 1, "y": 1},
        [("a", "x", "1/2"), ("b", "y", 1), ("f", "x", "1/2"), ("f", "y", "1/2")],
    ),
    {"f": ["a", "b"]},
)


@pytest.mark.parametrize("name", sorted(SOLVERS))
@pytest.mark.parametrize(
    ("budget", "best"), [(0, 0), (1, F(1, 2)), (3, 1), (4, F(3, 2)), (9, F(3, 2))]
)
def test_by_hand(name: str, budget: int, best: Fraction) -> None:
    optimum = solve(NOTES, budget, solver=name)
    assert optimum.value == best
    assert violations(NOTES, optimum.store, F(budget), 1) == []
    assert optimum.certified == (name in PROVERS)


def test_nothing_changes_without_parts(tiny: Package) -> None:
    alone = integer_form(tiny).at(F(2), 1)
    assert solve_with_parts(Auto(), alone, Limits()) == Auto().solve(alone, Limits())


def test_forged_certificates_are_refused() -> None:
    """A store that breaks the rule, and proofs that do not rule out what it allows."""
    good = solve(NOTES, 3).certificate
    assert good is not None
    both = replace(good, store=("a", "f"), value=F(3, 2))
    reason = verify(NOTES, both).reason
    assert reason == "the store is not feasible: 'f' is kept together with its part 'a'"
    weak = "the bound does not exclude a better store"
    # 0, 1 and 2 are f, a and b. Where f is kept, a may not be: together they would be worth 3/2.
    for proof, refused in [
        ((1, 0, 1, 1, 7, 0, 1, 1, 0, 0), ""),
        ((1, 0, 0, 1, 1, 0, 0), f"leaf 1: {weak}"),
        ((1, 0, 1, 1, 0, 0, 1, 1, 0, 0), f"leaf 1: {weak}"),
        ((1, 0, 7, 1, 1, 0, 0), "leaf 1: what is kept breaks no constraint"),
        ((1, 0, 1, 1, 7, 7, 1, 1, 0, 0), "leaf 2: what is kept breaks no constraint"),
    ]:
        assert verify(NOTES, replace(good, proof=proof)).reason == refused, proof


def subsets(count: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(count), size) for size in range(count + 1))


def best_value(package: Package, at: Form, budget: Fraction) -> int:
    """The optimum by trying every set of candidates, in the units of the form."""
    ids = at.candidate_ids
    stores = ((u, [ids[v] for v in u]) for u in subsets(len(ids)))
    return max(
        at.value(u) for u, store in stores if not violations(package, store, budget, at.group_cap)
    )


def check_all(package: Package, budget: Fraction, cap: int, names: list[str]) -> None:
    """Backends find the optimum; those with proofs prove it."""
    at = integer_form(package).at(budget, cap)
    best = best_value(package, at, budget)
    for name in names:
        if named_solver(name).accepts(at):
            continue
        solution = solve_with_parts(named_solver(name), at, Limits())
        check_store(at, solution)
        assert solution.closed
        assert best - (rounding(at) if name == "highs" else 0) <= solution.value <= best
        if name == "highs":
            assert solution.bound is None or solution.bound >= best
        else:
            assert solution.bound == best
        if name in PROVERS:
            optimum = solve(package, budget, cap, name)
            assert optimum.certified, (name, optimum.note)
            assert (optimum.value_high or optimum.value) == F(best, at.value_scale)


BUDGET_SHARES = (F(0), F(1, 4), F(1, 2), F(3, 4), F(2))


@st.composite
def packages_with_parts(draw: st.DrawFn) -> Package:
    """Small packages of every h where one to three candidates have parts, some of them shared."""
    package = draw(packages(max_groups=3))
    ids = draw(st.permutations(sorted(package.candidate)))
    assume(len(ids) > 1)
    count = draw(st.integers(1, min(3, len(ids) - 1)))
    inner = st.lists(st.sampled_from(ids[count:]), unique=True, min_size=1)
    return with_parts(package, {whole: draw(inner) for whole in ids[:count]})


@given(packages_with_parts(), st.sampled_from(BUDGET_SHARES), st.integers(1, 3))
@settings(max_examples=120)
def test_every_backend_equals_brute_force(package: Package, share: Fraction, cap: int) -> None:
    check_all(package, package.total_cost(package.candidate) * share, cap, sorted(SOLVERS))


# Small packages whose branches differ from the root: weights of u0.., candidates, cells, budget and
# cap. w has the part p.
APART = {
    "grain": ("241", "b:g0:2 p:p:5 q:q:2 w:w:2", "b:u1:1 p:u2:1/2 q:u0:1 w:u0:1 w:u1:1/2", 3, 2),
    "thirds": ("1", "a:g0:4 c:g0:4 p:p:5 w:w:4", "a:u0:1/2 c:u0:1 p:u0:1/3", 7, 1),
    "dominated where w is kept": (
        "32",
        "b:g0:4 c:g1:1 d:g1:2 p:p:2 w:w:3",
        "b:u0:1 c:u0:2/3 d:u0:2/3 d:u1:1/2 p:u0:1/3 w:u1:1",
        12,
        1,
    ),
    "dominated in the small search": (
        "114",
        "a:g0:3 b:g0:2 c:g1:2 p:p:1 w:w:1",
        "a:u1:1/2 a:u2:1 b:u2:1 c:u0:2/3 p:u2:1 w:u1:1",
        4,
        1,
    ),
    "full where w is kept": (
        "233",
        "a:g0:1 b:g0:1 p:p:1 w:w:2 x:x:2",
        "a:u1:1/2 b:u2:1 p:u1:2/3 w:u0:1 x:u0:1/2",
        11,
        1,
    ),
    "half full where w is kept": (
        "1141",
        "c:g0:4 d:g0:2 p:p:3 w:w:5",
        "c:u2:2/3 d:u0:1/2 d:u2:1/3 d:u3:1/2 p:u1:1 w:u0:2/3 w:u3:1/2",
        11,
        1,
    ),
}


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("case", sorted(APART))
def test_branches_that_differ_from_the_root(
    case: str, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        monkeypatch.setattr(fast, "SMALL", -1)
    weights, rows, cells, budget, cap = APART[case]
    units = {f"u{place}": int(weight) for place, weight in enumerate(weights)}
    made = package(rows, units, [tuple(cell.split(":")) for cell in cells.split()])
    check_all(with_parts(made, {"w": ["p"]}), F(budget), cap, sorted(SOLVERS))


def check_seeds(seeds: range) -> int:
    """Seeded packages, where more is left to choose beside a file; how often that took branches."""
    branched = 0
    for seed in seeds:
        package = random_package_with_parts(seed, irrational=seed % 3 == 0)
        package = faint(package) if seed % 6 == 0 else package
        budget = package.total_cost(package.candidate) * BUDGET_SHARES[1 + seed % 4]
        cap = 1 + seed % 5 // 4
        check_all(package, budget, cap, ["fast", "reference"])
        branched += int(solve(package, budget, cap).statistics.get("branches", 1)) > 1
    return branched


def test_branches_prove_the_root() -> None:
    """Branches have other grains and other dominated candidates than the root."""
    assert check_seeds(range(400)) > 10


def test_branches_prove_the_root_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """No problem is small: every branch has layouts and prices of its own."""
    monkeypatch.setattr(fast, "SMALL", -1)
    assert check_seeds(range(400, 800)) > 10


@given(packages_with_parts(), st.sampled_from(BUDGET_SHARES), st.data())
@settings(max_examples=60)
def test_cells_that_nobody_judged(package: Package, share: Fraction, data: st.DataObject) -> None:
    """The optimum of what is known, and a bound that holds for the upper bounds."""
    uppers = [data.draw(st.sampled_from((None, cell.value, F(1)))) for cell in package.coverage]
    cells = zip(package.coverage, uppers, strict=True)
    package = package.replace(
        coverage=tuple(cell.model_copy(update={"upper": upper}) for cell, upper in cells)
    )
    budget = package.total_cost(package.candidate) * share
    best = solve(package, budget)
    cap = package.group_cap
    known, at = (integer_form(one).at(budget, cap) for one in (package.known, package))
    assert violations(package, best.store, budget, cap) == []
    low = F(best_value(package, known, budget), known.value_scale)
    assert value(package, best.store).high == low
    assert best.bound >= F(best_value(package, at, budget), at.value_scale)
    if best.certified:
        assert best.certificate is not None
        assert verify(package, best.certificate).valid


def folder(files: int, entries: int) -> Package:
    """Files whose entries cover half of a unit each, as the file itself does."""
    rows: list[str] = []
    cells: list[Cell] = []
    parts: dict[str, list[str]] = {}
    for file in (f"f{number:02}" for number in range(files)):
        inner = [f"{file}.{number}" for number in range(entries)]
        parts[file] = inner
        rows += [f"{file}:{file}:{entries * 4}", *(f"{id}:{id}:5" for id in inner)]
        cells += [(id, f"u{id}", "1/2") for id in inner]
        cells += [(file, f"u{id}", "1/2") for id in inner]
    units = {cell[1]: 1 for cell in cells}
    return with_parts(package(" ".join(rows), units, cells), parts)


@pytest.mark.parametrize("name", PROVERS)
def test_an_ample_budget_takes_few_branches(name: str) -> None:
    """Thirty files: with two branches on each, there would be a thousand million."""
    notes = folder(files=30, entries=3)
    optimum = solve(notes, 1000, solver=name)
    assert (optimum.certified, optimum.value) == (True, 45)
    assert int(optimum.statistics["branches"]) == 1


def test_where_files_save_what_entries_do_not_have() -> None:
    """Sixty buy five files whose entries cost 75; what is left buys entries of a sixth."""
    optimum = solve(folder(files=6, entries=3), 66)
    assert (optimum.certified, optimum.value) == (True, 8)
    assert sum("." not in id for id in optimum.store) == 5


@pytest.mark.parametrize("name", sorted(SOLVERS))
@pytest.mark.parametrize("limits", [{"seconds": 0.0}, {"nodes": 1}], ids=["no time", "one node"])
def test_early_stops_stay_valid(name: str, limits: dict[str, Any]) -> None:
    for seed in range(150):
        package = random_package_with_parts(seed, irrational=seed % 4 == 0)
        budget = package.total_cost(package.candidate) * BUDGET_SHARES[1 + seed % 4]
        at = integer_form(package).at(budget, 1)
        if named_solver(name).accepts(at):
            continue
        solution = solve_with_parts(named_solver(name), at, Limits(**limits))
        check_store(at, solution)
        assert solution.bound is None or solution.bound >= best_value(package, at, budget)


def test_an_interrupt_in_a_branch_leaves_the_best_store_and_a_bound() -> None:
    """The first branch below the root is broken off: its bound is that of the root."""

    class Interrupted(Auto):
        calls = 0

        def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
            self.calls += 1
            if self.calls == 1:
                return super().solve(form, limits, hint)
            limits.interrupted = True
            return Solution(hint, form.value(hint), None, closed=False)

    at = integer_form(NOTES).at(F(3), 1)
    solution = solve_with_parts(Interrupted(), at, Limits())
    assert (solution.closed, solution.proof) == (False, None)
    assert (solution.value, solution.bound) == (at.value_scale, at.value_scale * 3 // 2)
    assert at.feasible(solution.chosen)


@pytest.mark.parametrize("cap", [1, 2])
def test_the_frontier_at_every_budget(cap: int) -> None:
    for seed in range(25):
        package = random_package_with_parts(seed)
        at = integer_form(package)
        found = frontier(package, 6, cap)
        best = [best_value(package, at.at(F(b), cap), F(b)) for b in range(7)]
        assert found.values == tuple(F(number, at.value_scale) for number in best)
    assert frontier(folder(files=20, entries=3), 12, 1).method == BUDGET_BY_BUDGET


@pytest.mark.parametrize(
    "response",
    [
        Capped(),
        Capped(cap=F(3, 4)),
        Sqrt(),
        Log1p(),
        Piecewise(points=((F(1, 2), F(1, 2)), (F(3, 2), F(5, 6)))),
    ],
)
@pytest.mark.parametrize("table", [True, False])
def test_a_unit_that_is_covered_in_part(
    response: Response, table: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values count from what is given, with a table or without, once or step by step."""
    if not table:
        monkeypatch.setattr(form, "FINEST_TABLE", -1)
    made = package("a:e0:1 b:e1:1", {"x": 3}, [("a", "x", "1/3"), ("b", "x", 1)], response)
    level: Level = integer_form(made).levels[0]
    assert (level.table is not None) == table
    for given_level in range(level.top + 2):
        rest = level.after(given_level)
        assert rest == level.after(given_level // 2).after(given_level - given_level // 2)
        for more in range(level.top + 2):
            gained = level.value(given_level + more) - level.value(given_level)
            assert rest.value(more) == gained
            assert rest.low(more) == level.low(given_level + more) - level.value(given_level)

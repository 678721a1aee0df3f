"""The search by hulls of units with at most two levels: optima, proofs, limits."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from memaudit.kernel.checker import verify
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.compiled import hull_solve
from memaudit.kernel.solvers.compiled.hull import has_hulls
from memaudit.kernel.solvers.compiled.large import solve_large
from memaudit.kernel.solvers.compiled.problem import LargeSolution
from memaudit.kernel.solvers.form import Form, integer_form
from memaudit.kernel.solvers.packed import FINE, SCALE, clean, pack
from memaudit.kernel.solvers.protocol import Limits
from memaudit.kernel.solvers.reference import BruteForce
from memaudit.kernel.solvers.solve import solve

F = Fraction


def random_package(seed: int, candidates: int, units: int) -> Package:
    """Levels 0, 1/2 and 1, ties, costs of 0, weights of 0, groups of one and of several."""
    draw = Random(seed)
    alone = draw.random() < 0.5
    groups = [str(n if alone else draw.randrange(candidates)) for n in range(candidates)]
    density = min(0.6, draw.choice([2, 4, 8]) / units)
    costs = draw.choice([[1], [0, 1, 2, 3], [5, 8, 13, 21], range(3, 30)])
    return Package.model_validate(
        {
            "name": f"random {seed}",
            "group_cap": draw.choice([1, 1, 2]),
            "experiences": [{"id": id} for id in sorted(set(groups))],
            "candidates": [
                {"id": f"c{n}", "experience": groups[n], "kind": "fact", "cost": draw.choice(costs)}
                for n in range(candidates)
            ],
            "units": [
                {"id": f"u{n}", "kind": "fact", "weight": draw.choice([0, 1, 1, 1, 2, 3])}
                for n in range(units)
            ],
            "coverage": [
                {"candidate": f"c{c}", "unit": f"u{u}", "value": draw.choice(["0.5", "1"])}
                for c in range(candidates)
                for u in range(units)
                if draw.random() < density
            ],
        }
    )


def by_hulls(form: Form, limits: Limits | None = None) -> LargeSolution:
    packed = pack(form)
    assert packed is not None
    slack = np.zeros(len(packed.tops), np.int64)
    groups = np.array(form.group, np.int64)
    return solve_large(clean(packed), limits or Limits(), groups, slack)


def checked(package: Package, form: Form, budget: Fraction, solution: LargeSolution) -> bool:
    """Whether the checker accepts the proof of a solution."""
    ids = tuple(sorted(form.candidate_ids[u] for u in solution.chosen))
    proof = Certificate(
        digest(package),
        budget,
        form.group_cap,
        F(solution.value, form.value_scale),
        form.value_scale,
        ids,
        solution.tape,
        solution.layouts,
        solution.fineness,
    )
    return verify(package, proof).valid


@pytest.mark.parametrize("seed", range(60))
def test_small_problems_against_all_stores(seed: int) -> None:
    draw = Random(1000 + seed)
    package = random_package(seed, draw.randrange(2, 13), draw.randrange(1, 9))
    whole = integer_form(package)
    for share in (draw.random() / 2, draw.random()):
        budget = F(int(share * sum(candidate.cost for candidate in package.candidates)))
        form = whole.at(budget, package.group_cap)
        best = BruteForce().solve(form, Limits())
        solution = by_hulls(form)
        assert (solution.value, solution.closed) == (best.value, True)
        assert form.feasible(solution.chosen)
        assert checked(package, form, budget, solution)


@pytest.mark.parametrize("seed", range(40))
def test_large_problems_against_highs(seed: int) -> None:
    """Certificates hold, and the tape is the same each time."""
    draw = Random(seed)
    package = random_package(7000 + seed, draw.randrange(65, 160), draw.randrange(20, 60))
    total = sum(candidate.cost for candidate in package.candidates)
    budget = F(int(draw.choice([0.05, 0.1, 0.2]) * total))
    best = solve(package, budget, solver="highs", check=False)
    form = integer_form(package).at(budget, package.group_cap)
    solution = by_hulls(form)
    assert solution.closed
    assert F(solution.value, form.value_scale) == best.value
    assert checked(package, form, budget, solution)
    assert by_hulls(form).tape == solution.tape


@pytest.mark.parametrize("seed", [pytest.param(40, marks=pytest.mark.slow), 71, 3, 8])
def test_split_trees_are_the_same_on_any_number_of_threads(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every few nodes what is open becomes parts of its own; store and proof do not depend on who
    searches them."""
    draw = Random(seed)
    package = random_package(seed, draw.randrange(65, 220), draw.randrange(20, 80))
    total = sum(candidate.cost for candidate in package.candidates)
    budget = F(int(draw.choice([0.05, 0.1, 0.2, 0.3]) * total))
    form = integer_form(package).at(budget, package.group_cap)
    whole = by_hulls(form)
    monkeypatch.setattr(hull_solve, "NODES", 3)
    monkeypatch.setattr(hull_solve, "FEWER", 2)
    one, two, eight = (by_hulls(form, Limits(threads=threads)) for threads in (1, 2, 8))
    assert (one.value, one.closed) == (whole.value, True)
    assert one == two == eight
    assert checked(package, form, budget, one)


def test_limits_leave_a_bound() -> None:
    package = random_package(8, 150, 60).replace(group_cap=1)
    form = integer_form(package).at(package.total_cost(package.candidate) / 10, 1)
    best = by_hulls(form)
    stopped = by_hulls(form, Limits(nodes=1))
    late = by_hulls(form, Limits(seconds=1e-9))
    for cut in (stopped, late):
        assert cut.value <= best.value <= cut.bound
        assert cut.closed or cut.bound > cut.value


def test_more_levels_go_another_way() -> None:
    package = random_package(5, 80, 20)
    finer = package.replace(
        coverage=tuple(cell.model_copy(update={"value": F(1, 3)}) for cell in package.coverage)
    )
    form = integer_form(finer).at(F(30), 1)
    packed = pack(form)
    assert packed is not None
    slack = np.zeros(len(packed.tops), np.int64)
    assert not has_hulls(packed, slack)
    two = pack(integer_form(package).at(F(30), 1))
    assert two is not None
    assert has_hulls(two, slack)
    assert not has_hulls(two, slack + 1)


def test_fineness_is_part_of_the_claim() -> None:
    """Prices read at another fineness prove nothing, and only powers of 2 in a range are read."""
    package = random_package(11, 90, 40).replace(group_cap=1)
    good = solve(package, sum(candidate.cost for candidate in package.candidates) / 40).certificate
    assert good is not None
    assert good.fineness == FINE
    assert verify(package, good).valid
    assert Certificate.from_json(good.to_json()) == good
    for wrong in (SCALE, FINE * 2, 3000, 0, 1 << 21):
        assert not verify(package, replace(good, fineness=wrong)).valid

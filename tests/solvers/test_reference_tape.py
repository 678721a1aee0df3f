"""The reference solver's tapes, replayed by a second implementation of their language."""

from fractions import Fraction
from itertools import permutations

import pytest

from memaudit.checker import verify
from memaudit.core.digest import digest
from memaudit.core.optimum import Certificate
from memaudit.solvers.form import Form, granularity, integer_form
from memaudit.solvers.protocol import Limits
from memaudit.solvers.reference import Reference
from tests.solvers.random_forms import random_form, random_package

Q = 1024


def slack(form: Form, candidate: int) -> int:
    """Two grid steps for every irrational unit in the row."""
    return sum(
        2 * int(form.levels[unit].factor / form.levels[unit].grid)
        for unit, _ in form.rows[candidate]
        if not form.levels[unit].response.is_rational
    )


def dual_bound(form: Form, kept: frozenset[int], banned: frozenset[int], mu: int) -> int:
    """The leaf bound, straight from its formula."""
    left = form.budget - sum(form.cost[c] for c in kept)
    total = Q * form.value(kept) + mu * left
    for group in form.groups:
        room = form.group_cap - len(kept.intersection(group))
        free = [c for c in group if c not in kept | banned and form.cost[c] <= left]
        gains = {c: form.value(kept | {c}) - form.value(kept) + slack(form, c) for c in free}
        rewards = sorted((Q * gains[c] - mu * form.cost[c] for c in free), reverse=True)
        total += sum(max(0, reward) for reward in rewards[: max(0, room)])
    return total


def dominated(form: Form) -> frozenset[int]:
    """At cap 1: what another of its group matches everywhere, at no more cost."""
    better = set()
    for group in form.groups if form.group_cap == 1 else ():
        for u, v in permutations(group, 2):
            mine, other = form.cover([u]), form.cover([v])
            tops = {unit: form.levels[unit].top for unit in mine}
            no_worse = form.cost[v] <= form.cost[u] and all(
                min(z, tops[unit]) <= other.get(unit, 0) for unit, z in mine.items()
            )
            same = form.cost[v] == form.cost[u] and all(
                min(mine.get(unit, 0), level.top) == min(other.get(unit, 0), level.top)
                for unit, level in enumerate(form.levels)
            )
            if no_worse and (v < u or not same):
                better.add(u)
    return frozenset(better)


def accepted(form: Form, value: int, tape: tuple[int, ...]) -> bool:
    """Whether the tape is one whole tree and proves that no store is worth more than `value`."""
    enough = Q * (value + granularity(form))
    nodes: list[tuple[frozenset[int], frozenset[int], int]] = [(frozenset(), dominated(form), 0)]
    words = iter(tape)
    for word in words:
        if not nodes:
            return False
        kept, banned, mu = nodes.pop()
        if word == 2:
            mu = next(words, -1)
            if mu < 0:
                return False
            nodes.append((kept, banned, mu))
        elif word == 1:
            candidate = next(words, -1)
            if candidate not in range(len(form.rows)) or candidate in kept | banned:
                return False
            nodes.append((kept, banned | {candidate}, mu))
            nodes.append((kept | {candidate}, banned, mu))
        elif word != 0 or dual_bound(form, kept, banned, mu) >= enough:
            return False
    return not nodes


@pytest.mark.parametrize("irrational", [False, True])
def test_tapes_prove_the_value(irrational: bool) -> None:
    """Every tape holds, also for k = 2 and 3, any h and budgets from 0 to everything."""
    for seed in range(400):
        form = random_form(seed, irrational)
        solution = Reference().solve(form, Limits())
        assert solution.proof is not None
        assert accepted(form, solution.value, solution.proof.tape)


def test_longer_tapes_and_what_breaks_them() -> None:
    """Cut tapes, lower values and wider budgets are refused."""
    for seed in range(12):
        form = integer_form(random_package(seed, groups=8, units=6))
        form = form.at(Fraction(sum(form.cost), 3 * form.cost_scale), 1)
        solution = Reference().solve(form, Limits())
        assert solution.proof is not None
        tape = solution.proof.tape
        assert accepted(form, solution.value, tape)
        assert not accepted(form, solution.value, tape[:-1])
        assert not accepted(form, solution.value, (*tape, 0))
        if solution.value:
            assert not accepted(form, solution.value - granularity(form), tape)


@pytest.mark.parametrize("irrational", [False, True])
def test_the_checker_agrees(irrational: bool) -> None:
    """Certificates made of these tapes pass the real check, from the package up."""
    for seed in range(300):
        package = random_package(seed, irrational, groups=6)
        form, cap = integer_form(package), 1 + seed % 3
        budget = Fraction(sum(form.cost) * (seed % 5), 5 * form.cost_scale)
        form = form.at(budget, cap)
        solution = Reference().solve(form, Limits())
        assert solution.proof is not None
        certificate = Certificate(
            package=digest(package),
            budget=budget,
            group_cap=cap,
            value=Fraction(solution.value, form.value_scale),
            scale=form.value_scale,
            store=tuple(form.candidate_ids[candidate] for candidate in solution.chosen),
            proof=solution.proof.tape,
        )
        verdict = verify(package, certificate)
        assert verdict.valid, (seed, verdict.reason)

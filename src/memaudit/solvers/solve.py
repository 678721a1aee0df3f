"""`solve`: pick a backend, solve, check the certificate, and say what is proven."""

import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from memaudit.checker import verify
from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.optimum import Certificate, Optimum
from memaudit.core.package import Package
from memaudit.solvers.form import Form, check_budget, integer_form
from memaudit.solvers.protocol import Limits, Solution
from memaudit.solvers.registry import named_solver


def solve(
    package: Package,
    budget: Any,
    group_cap: int | None = None,
    solver: str = "auto",
    *,
    seconds: float | None = None,
    check: bool = True,
) -> Optimum:
    """The best store of a package within a budget, certified wherever that can be done.

    `group_cap` defaults to the package's own. With a time limit, or after Ctrl-C, the best store
    found comes back with a valid bound. `check=False` skips the certificate check; the result is
    then not called certified.
    """
    return solve_all(package, [budget], group_cap, solver, seconds=seconds, check=check)[0]


def solve_all(
    package: Package,
    budgets: Sequence[Any],
    group_cap: int | None = None,
    solver: str = "auto",
    *,
    seconds: float | None = None,
    check: bool = True,
) -> list[Optimum]:
    """`solve` at several budgets, reading the package once."""
    return list(iter_optima(package, budgets, group_cap, solver, seconds=seconds, check=check))


def iter_optima(
    package: Package,
    budgets: Sequence[Any],
    group_cap: int | None = None,
    solver: str = "auto",
    *,
    seconds: float | None = None,
    check: bool = True,
) -> Iterator[Optimum]:
    """`solve_all`, one optimum after the other as they are asked for."""
    cap = package.group_cap if group_cap is None else group_cap
    amounts = [exact(budget) for budget in budgets]
    for amount in amounts:
        check_budget(amount, cap)
    form, name = integer_form(package), digest(package)
    for amount in amounts:
        limits = Limits(seconds=seconds)
        yield _solve(package, form.at(amount, cap), amount, name, solver, limits, check)


def _solve(
    package: Package, form: Form, budget: Fraction, name: str, solver: str, limits: Limits,
    check: bool,
) -> Optimum:  # fmt: skip
    backend = named_solver(solver)
    refusal = backend.accepts(form)
    if refusal:
        raise MemAuditError(f"solver {solver!r} cannot take {package.name!r}: {refusal}")
    started = time.perf_counter()
    solution = backend.solve(form, limits)
    elapsed = time.perf_counter() - started
    return _optimum(package, form, budget, name, solution, backend.name, elapsed, check)


def _optimum(
    package: Package, form: Form, budget: Fraction, name: str, solution: Solution, solver: str,
    elapsed: float, check: bool,
) -> Optimum:  # fmt: skip
    chosen = form.without_waste(solution.chosen)
    store = tuple(sorted(form.candidate_ids[u] for u in chosen))
    low, high = form.low(chosen), form.value(chosen)
    if high != solution.value or not form.feasible(chosen):
        raise MemAuditError(f"solver {solver!r} returned a store that is not what it says")
    certificate, note = None, ""
    certified = False
    if solution.closed and solution.proof is not None:
        certificate = Certificate(
            name, budget, form.group_cap, Fraction(high, form.value_scale), form.value_scale,
            store, solution.proof.tape, solution.proof.layouts,
        )  # fmt: skip
        if check:
            verdict = verify(package, certificate)
            certified = verdict.valid
            note = "" if certified else f"certificate refused: {verdict.reason}"
        else:
            note = "certificate not checked"
    elif solution.closed:
        note = f"{solver} gives no certificate"
    else:
        note = "stopped early"
    bound = high if certified or solution.bound is None else max(high, solution.bound)
    if solution.bound is None and not certified:
        bound = max(high, sum(level.value(level.top) for level in form.levels))
    if certified and low < high:
        note = _precision(form, chosen)
    return Optimum(
        package=package.name,
        digest=name,
        budget=budget,
        group_cap=form.group_cap,
        value=Fraction(low, form.value_scale),
        value_high=Fraction(high, form.value_scale) if low < high else None,
        store=store,
        cost=package.total_cost(store),
        bound=Fraction(bound, form.value_scale),
        status="certified" if certified else "bound",
        solver=solver,
        certificate=certificate,
        note=note,
        statistics={**solution.statistics, "seconds": round(elapsed, 6)},
    )


def _precision(form: Form, chosen: tuple[int, ...]) -> str:
    """Whether another store is too close to tell apart at the precision of irrational values."""
    from memaudit.solvers.ties import near_ties

    near = near_ties(form, chosen, Limits())
    if near is False:
        return "decided: every other store is worth less"
    return "undecided at precision: another store may be worth as much within the enclosure"

"""`solve`: pick a backend, solve, check the certificate, and report what is proven."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from threading import Lock
from typing import Any

from memaudit.kernel.checker import PackageChecker
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.package.objective import assumed_share
from memaudit.kernel.package.optimum import Certificate, Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.form import Form, check_budget, integer_form
from memaudit.kernel.solvers.parts import solve_with_parts
from memaudit.kernel.solvers.protocol import Limits, Solution, Tell
from memaudit.kernel.solvers.reference import Q, Tree
from memaudit.kernel.solvers.registry import named_solver
from memaudit.kernel.solvers.tie_breaking import without_waste

STOP = threading.Event()
"""While it is set, `solve` and `frontier` stop with what they have, in every thread.

Whoever wants bounds after Ctrl-C sets it before KeyboardInterrupt is raised; otherwise Ctrl-C ends
the command.
"""

MOST_THREADS = 8
"""More share the rounds of a tree badly: a round has 16 nodes at most."""


def usual_threads(asked: int | None = None) -> int:
    """What is asked for, else all cores, up to MOST_THREADS.

    One in a process that is one of several, whatever is asked: the others use the other cores.
    """
    if multiprocessing.parent_process() is not None:
        return 1
    if asked:
        return asked
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(MOST_THREADS, cores or 1)


@dataclass(frozen=True, slots=True)
class SolveProgress:
    """How far a solve is: the best store's value, a bound on every store's, and the nodes."""

    value: Fraction
    bound: Fraction | None
    nodes: int


Watch = Callable[[SolveProgress], None]
"""Called now and then during a solve."""


def solve(
    package: Package,
    budget: Any,
    group_cap: int | None = None,
    solver: str = "auto",
    *,
    seconds: float | None = None,
    check: bool = True,
    threads: int | None = None,
    hint: Collection[str] = (),
    progress: Watch | None = None,
) -> Optimum:
    """The best store of a package within a budget, certified wherever that is possible.

    `group_cap` defaults to the package's own. With a time limit the best store
    found comes back with a valid bound. `check=False` skips the certificate check; the result is
    then not called certified. `threads` changes the time it takes and nothing else; by default all
    cores are used, up to eight. `hint` is a store to start from, such as one of a frontier.
    """
    return PackageSolver(package, group_cap, solver).solve(
        budget, seconds=seconds, check=check, threads=threads, hint=hint, progress=progress
    )


def solve_all(
    package: Package,
    budgets: Sequence[Any],
    group_cap: int | None = None,
    solver: str = "auto",
    *,
    seconds: float | None = None,
    check: bool = True,
    threads: int | None = None,
) -> list[Optimum]:
    """`solve` at several budgets, reading the package once."""
    return list(
        iter_optima(
            package, budgets, group_cap, solver, seconds=seconds, check=check, threads=threads
        )
    )


def iter_optima(
    package: Package,
    budgets: Sequence[Any],
    group_cap: int | None = None,
    solver: str = "auto",
    *,
    seconds: float | None = None,
    check: bool = True,
    threads: int | None = None,
    progress: Watch | None = None,
) -> Iterator[Optimum]:
    """`solve_all`, one by one: the first budget with all threads, then several at the same time."""
    package_solver = PackageSolver(package, group_cap, solver)
    amounts = [exact(budget) for budget in budgets]
    for amount in amounts:
        check_budget(amount, package_solver.group_cap)
    threads = usual_threads(threads)

    def solved(amount: Fraction, threads: int) -> Optimum:
        return package_solver.solve(
            amount, seconds=seconds, check=check, threads=threads, progress=progress
        )

    # The first result comes as soon as it can, and whatever has to be compiled is compiled once;
    # then one thread for each budget wastes nothing.
    alone = amounts if threads == 1 else amounts[:1]
    for amount in alone:
        yield solved(amount, threads)
    if len(alone) < len(amounts):
        yield from _in_threads(partial(solved, threads=1), amounts[1:], threads)


def _in_threads(
    solved: Callable[[Fraction], Optimum], amounts: Sequence[Fraction], threads: int
) -> Iterator[Optimum]:
    """Solve several budgets at the same time. Ctrl-C ends them with bounds if STOP is set."""
    pool = ThreadPoolExecutor(threads)
    stopped = False
    try:
        for work in [pool.submit(solved, amount) for amount in amounts]:
            try:
                optimum = work.result()
            except KeyboardInterrupt:
                if not STOP.is_set():
                    stopped = True
                    STOP.set()
                    raise
                optimum = work.result()
            yield optimum
    finally:
        pool.shutdown(cancel_futures=True)
        if stopped:
            STOP.clear()


NOT_JUDGED = "some cells are not judged"
STOPPED_EARLY = "stopped early"
"""The note of a solve that the time limit or Ctrl-C ended."""


class PackageSolver:
    """Solves one package at many budgets; what does not depend on the budget is computed once."""

    def __init__(
        self, package: Package, group_cap: int | None = None, solver: str = "auto"
    ) -> None:
        self.package, self.backend = package, named_solver(solver)
        self.group_cap = package.group_cap if group_cap is None else group_cap
        self.form = integer_form(package)
        self.checker = PackageChecker(package)
        self._known = PackageSolver(package.known, group_cap, solver) if package.is_open else None
        self._one_check = Lock()

    def solve(
        self,
        budget: Any,
        *,
        seconds: float | None = None,
        check: bool = True,
        threads: int | None = None,
        hint: Collection[str] = (),
        progress: Watch | None = None,
    ) -> Optimum:
        amount = exact(budget)
        check_budget(amount, self.group_cap)
        form = self.form.at(amount, self.group_cap)
        refusal = self.backend.accepts(form)
        if refusal:
            raise MemAuditError(
                f"solver {self.backend.name!r} cannot take {self.package.name!r}: {refusal}"
            )
        tell = None if progress is None else _teller(form, progress)
        limits = Limits(seconds=seconds, threads=usual_threads(threads), progress=tell, stop=STOP)
        solution = solve_with_parts(self.backend, form, limits, _numbers(form, hint))
        if limits.interrupted and not STOP.is_set():
            raise KeyboardInterrupt  # nobody waits for a bound: whoever does has set STOP
        spent = limits.spent
        # One check at a time: the checker counts its steps for one certificate.
        with self._one_check:
            optimum = _optimum(
                self.checker,
                form,
                amount,
                solution,
                self.backend.name,
                spent,
                check and self._known is None,
            )
        if self._known is None:
            return optimum
        known = self._known.solve(
            amount, seconds=seconds, check=check, threads=threads, hint=hint, progress=progress
        )
        with self._one_check:
            return _closed(optimum, known, self.checker, check)


def _numbers(form: Form, hint: Collection[str]) -> tuple[int, ...]:
    """The numbers of a store's candidates; empty if it is not a feasible store of this form."""
    wanted = set(hint)
    chosen = tuple(u for u, id in enumerate(form.candidate_ids) if id in wanted)
    return chosen if len(chosen) == len(wanted) and form.feasible(chosen) else ()


def _teller(form: Form, progress: Watch) -> Tell:
    """Turns a solver's numbers into those of the package, values rising and bounds falling."""
    highest, lowest = 0, None

    def tell(value: int, bound: int | None, nodes: int) -> None:
        nonlocal highest, lowest
        highest = max(highest, value)
        if bound is not None:
            lowest = max(highest, bound if lowest is None else min(lowest, bound))
        scale = form.value_scale
        limit = None if lowest is None else Fraction(lowest, scale)
        progress(SolveProgress(Fraction(highest, scale), limit, nodes))

    return tell


def _optimum(
    checker: PackageChecker,
    form: Form,
    budget: Fraction,
    solution: Solution,
    solver: str,
    elapsed: float,
    check: bool,
) -> Optimum:
    package, name = checker.package, checker.digest
    # After every backend, so that stores do not differ by candidates that add nothing.
    chosen = without_waste(form, solution.chosen)
    store = tuple(sorted(form.candidate_ids[u] for u in chosen))
    low, high = form.low(chosen), form.value(chosen)
    # No backend is trusted: its store is valued again, exactly, and checked against every rule.
    if high != solution.value or not form.feasible(chosen):
        raise MemAuditError(
            f"solver {solver!r} returned a store that does not have the value it reports"
        )
    certificate, note = None, ""
    certified = False
    if solution.closed and solution.proof is not None:
        certificate = Certificate(
            name,
            budget,
            form.group_cap,
            Fraction(high, form.value_scale),
            form.value_scale,
            store,
            solution.proof.tape,
            solution.proof.layouts,
            solution.proof.fineness,
        )
        if check:
            verdict = checker.verify(certificate)
            certified = verdict.valid
            note = "" if certified else f"certificate refused: {verdict.reason}"
        else:
            note = "certificate not checked"
    elif solution.closed:
        note = f"{solver} gives no certificate"
    else:
        note = STOPPED_EARLY
    bound = high if certified or solution.bound is None else max(high, solution.bound)
    if solution.bound is None and not certified:
        # No bound in integers at all: what all units are worth in full always holds.
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
        assumed=assumed_share(package, store),
        statistics={**solution.statistics, "seconds": round(elapsed, 6)},
    )


def _closed(highest: Optimum, lowest: Optimum, checker: PackageChecker, check: bool) -> Optimum:
    """The optimum of a package with cells that nobody judged: between the optimum of what is known
    and that of the upper bounds. Where both are equal, the best known store and the proof for the
    upper bounds certify it."""
    ends = f"{float(lowest.value):.7g} and {float(highest.bound):.7g}"
    why = NOT_JUDGED if highest.certificate else STOPPED_EARLY
    note = f"{why}: the optimum lies between {ends}"
    optimum = replace(
        lowest,
        digest=checker.digest,
        package=checker.package.name,
        status="bound",
        bound=max(lowest.bound, highest.bound),
        certificate=None,
        value_high=None,
        note=note,
        assumed=assumed_share(checker.package, lowest.store),
    )
    if highest.certificate is None or not check:
        return optimum
    # The proof excludes every store under the upper bounds. If the best known store is worth as
    # much by its values, no judge's answer can change the optimum.
    certificate = replace(highest.certificate, store=lowest.store)
    if not checker.verify(certificate).valid:
        return optimum
    return replace(
        optimum,
        status="certified",
        certificate=certificate,
        value_high=lowest.value_high,
        note="",
        bound=lowest.value if lowest.value_high is None else lowest.value_high,
    )


def _precision(form: Form, chosen: tuple[int, ...]) -> str:
    """Whether another store is too close to distinguish at the precision of irrational values."""
    near = near_ties(form, chosen, Limits(stop=STOP))
    if near is False:
        return "decided: every other store is worth less"
    return "undecided at precision: another store may be worth as much within the enclosure"


MOST_NODES = 20_000


def near_ties(form: Form, chosen: tuple[int, ...], limits: Limits) -> bool | None:
    """Whether a store that covers differently may be worth more; None where the search gave up.

    Covering the same means the same exact value on units with a rational h and the same coverage
    on the others: such stores are worth the same, whatever the precision. Stores that keep a
    candidate beside its parts count, too, so it may find a near tie where there is none.
    """
    tree, low, nodes = Tree(form, range(len(form.rows))), form.low(chosen), 0
    most_nodes = MOST_NODES if limits.nodes is None else limits.nodes
    amounts = form.cover(chosen)
    target = _signature(form, [amounts.get(unit, 0) for unit in range(len(form.levels))])
    while nodes < most_nodes and not limits.expired:
        nodes += 1
        # Worth more by upper ends than the chosen store by lower ends, and not because both cover
        # the same: then enclosures cannot tell which is better.
        if tree.value > low and _signature(form, tree.level) != target:
            return True
        options = tree.options()
        mu = tree.break_multiplier(options)
        bound = min(tree.bound(options, mu), tree.bound(options, 0))
        if options and bound > Q * low:
            tree.descend(tree.densest(options), bound, mu)
        elif not tree.backtrack():
            return False
    return None


def _signature(form: Form, amounts: list[int]) -> list[int]:
    """Per unit, the value where it is exact and the coverage level where it is rounded."""
    return [
        level.value(amount) if level.response.is_rational else amount
        for level, amount in zip(form.levels, amounts, strict=True)
    ]

"""Optima of a package on demand: the frontier within a time limit, and the stores of writers."""

import math
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.provenance import assumed_text
from memaudit.kernel.solvers.solve import STOP, PackageSolver
from memaudit.lab.explorer.library.packages import IndexedPackage
from memaudit.lab.explorer.views.store_comparison import ComparableStore
from memaudit.lab.sweeps.runs.sweep import EvaluatedPackage
from memaudit.lab.sweeps.writers.protocol import OracleView
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.show.page_charts import OPT, Member, members_by_name

ONE_SOLVE = 2.0
"""Seconds per budget. What is not proven by then is not called an optimum."""

LONG_SOLVE = 10 * ONE_SOLVE
"""Seconds for a budget that somebody asked for."""

TRIES = 2
"""Two, since the first solve of a process loads the compiled code and may run out of time."""

MOST_UNPROVEN = 6
"""After this many budgets without a proof, the package is considered too hard for a curve."""


@dataclass(frozen=True, slots=True)
class FrontierStep:
    """From `budget` on OPT is `value`, reached by `store`; at most `bound` if not certified."""

    budget: Fraction
    value: Fraction
    store: tuple[str, ...]
    certified: bool
    bound: Fraction


@dataclass(frozen=True, slots=True)
class KnownFrontier:
    """The steps that are known so far."""

    steps: tuple[FrontierStep, ...]
    is_complete: bool
    note: str
    given: tuple[Fraction, ...]


class FrontierSearch:
    """The frontier of one package, solved in slices of time; `given` budgets come first.

    Every point is a certified solve. Between two solved budgets, OPT lies between their values. If
    those are equal, or if the more expensive store costs the next possible amount already, nothing
    between them is unknown. The gap with the largest area is cut first, so that the curve is good
    before it is complete.
    """

    def __init__(self, oracle: OracleView, given: Iterable[Fraction] = ()) -> None:
        self._oracle = oracle
        self.given = tuple(sorted(set(given)))
        self._lock = threading.Lock()
        self._solved: dict[Fraction, Optimum] = {}
        self._proven: list[Fraction] = []
        self._gaps: dict[Fraction, tuple[Fraction, Fraction]] = {}
        """By the proven budget below it, an interval of budgets where OPT is not known: the area,
        and a budget in the middle."""
        self._tries: dict[Fraction, int] = {}
        self._tried_long: set[Fraction] = set()
        self.spent = 0.0

    def work(self, seconds: float) -> KnownFrontier:
        """Solve more budgets for this long, at least one in all, and return what is known then."""
        with self._lock:
            started = time.monotonic()
            solver = self._oracle.solver
            while not STOP.is_set():
                left = seconds - (time.monotonic() - started)
                budget = self._next(solver) if left > 0 or not self._solved else None
                if budget is None:
                    break
                self._tries[budget] = self._tries.get(budget, 0) + 1
                self._add(solver, solver.solve(budget, seconds=max(0, min(ONE_SOLVE, left))))
            self.spent += time.monotonic() - started
            return self._known(solver)

    def optimum(self, budget: Fraction, seconds: float = LONG_SOLVE) -> Optimum:
        """OPT at one budget, solved now unless it is known or was already tried for long."""
        with self._lock:
            solver = self._oracle.solver
            known = self._solved.get(budget)
            if known is None or not (known.certified or budget in self._tried_long):
                self._tried_long.add(budget)
                known = solver.solve(budget, seconds=seconds)
                self._add(solver, known)
            return known

    def _next(self, solver: PackageSolver) -> Fraction | None:
        """The budget to solve next; None if all is known or nothing more can be proven."""
        everything = Fraction(sum(solver.form.cost), solver.form.cost_scale)
        unproven = [budget for budget, optimum in self._solved.items() if not optimum.certified]
        # A budget that somebody asked for is not in `_tries`: it had its long time already.
        retries = [budget for budget in unproven if self._tries.get(budget, TRIES) < TRIES]
        unseen = [b for b in (*self.given, everything, Fraction(0)) if b not in self._solved]
        if retries or unseen:
            return (*retries, *unseen)[0]
        # Every further budget would cost its full time and prove as little.
        if len(unproven) > MOST_UNPROVEN:
            return None
        return max(self._gaps.values())[1] if self._gaps else None

    def _add(self, solver: PackageSolver, optimum: Optimum) -> None:
        """Record a solved budget, and what is not known on both sides of it."""
        self._solved[optimum.budget] = optimum
        at = bisect_left(self._proven, optimum.budget)
        if optimum.certified and self._proven[at : at + 1] != [optimum.budget]:
            self._proven.insert(at, optimum.budget)
        # A new proof changes only the two gaps beside it.
        for below, above in pairwise(self._proven[max(0, at - 1) : at + 2]):
            gap = self._gap(solver, self._solved[below], self._solved[above])
            if gap is None:
                self._gaps.pop(below, None)
            else:
                self._gaps[below] = gap

    def _gap(
        self, solver: PackageSolver, low: Optimum, high: Optimum
    ) -> tuple[Fraction, Fraction] | None:
        grain = Fraction(1, solver.form.cost_scale)
        # The store of the higher budget costs `high.cost`: from there on OPT is its value.
        last = high.cost - grain
        if _solver_value(low) == _solver_value(high) or last <= low.budget:
            return None
        steps = int((last - low.budget) / grain)
        middle = low.budget + grain * max(1, steps // 2)
        if middle in self._solved:
            return None
        return (_solver_value(high) - _solver_value(low)) * (last - low.budget), middle

    def _known(self, solver: PackageSolver) -> KnownFrontier:
        steps: list[FrontierStep] = []
        for budget in sorted(self._solved):
            best = self._solved[budget]
            if steps and steps[-1].certified and best.certified and steps[-1].value >= best.value:
                continue  # the cheaper store is worth as much
            start = best.cost if best.certified else budget
            steps.append(FrontierStep(start, best.value, best.store, best.certified, best.bound))
        steps.sort(key=lambda step: step.budget)
        unproven = [step for step in steps if not step.certified]
        ended = self._next(solver) is None
        is_complete = ended and not self._gaps and not unproven
        note = self._note(steps, is_complete, len(unproven), ended)
        shares = [best.assumed for best in self._solved.values()]
        if assumed := assumed_text(max(shares, default=Fraction(0))):
            note += f" Of OPT, up to {assumed}."
        return KnownFrontier(tuple(steps), is_complete, note, self.given)

    def _note(
        self, steps: list[FrontierStep], is_complete: bool, unproven: int, ended: bool
    ) -> str:
        if is_complete:
            return f"Exact at every budget: OPT has {len(steps)} steps, each with a checked proof."
        proven = len(steps) - unproven
        so_far = "" if ended else " so far"
        text = (
            f"OPT is proven at {proven} budgets{so_far}. Between two of them it lies between their "
            "values."
        )
        if unproven:
            text += f" At {unproven} the time ran out, and the store shown is the best one found."
        return text


def _solver_value(optimum: Optimum) -> Fraction:
    """What the solver maximised. The upper end of its interval if some h is irrational."""
    return optimum.value if optimum.value_high is None else optimum.value_high


SEED = 0
"""Writers that draw at random get this seed when they are run for a page."""
POLL_SECONDS = 0.2
"""How often a thread that waits for a writer checks whether the program is ending."""

Result = TypeVar("Result")


def in_background(work: Callable[[], Result]) -> Future[Result]:
    """Work in a daemon thread, which does not keep the program from ending."""
    result: Future[Result] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised where somebody waits for it
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return result


def is_done(work: Future[Any], seconds: float) -> bool:
    """Whether the work is done, or is after some seconds."""
    wait([work], max(0.0, min(seconds, threading.TIMEOUT_MAX)))
    return work.done()


FRONTIER_SHARE, WRITERS_SHARE = 1 / 3, 2 / 3
"""Of the seconds of a package, what may be used up by its frontier, and then by its writers. The
rest is for proofs and queries."""


class Allowance:
    """The seconds of computing that a package may take; a server sets no end."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds, self.spent = seconds, 0.0

    @contextmanager
    def spend(self, most: float = math.inf, share: float = 1.0) -> Iterator[float]:
        """The seconds that a piece of work may take, so that no more than this share of all is
        used up. What it takes is then spent."""
        started = time.monotonic()
        try:
            yield max(0.0, min(most, share * self.seconds - self.spent))
        finally:
            self.spent += time.monotonic() - started


def runnable_writers() -> dict[str, Member]:
    """The writers that can be run on any package, references last; OPT is what they are compared
    with."""
    writers = sorted(WRITERS.values(), key=lambda writer: writer.peeks)
    return members_by_name(
        {writer.name: writer.peeks for writer in writers if writer.name != OPT}, WRITERS
    )


class PackageOptima:
    """Optima and stores of one package. `given` are its own budgets and those of runs about it."""

    def __init__(
        self, indexed: IndexedPackage, given: Iterable[Fraction] = (), seconds: float = math.inf
    ) -> None:
        self.indexed = indexed
        self.allowance, self._one_solve = Allowance(seconds), min(ONE_SOLVE, seconds)
        self._given = tuple(given)
        self._lock, self._one_writer = threading.Lock(), threading.Lock()
        self._written: dict[tuple[str, Fraction], Future[ComparableStore]] = {}

    @cached_property
    def search(self) -> FrontierSearch:
        return FrontierSearch(OracleView(self.indexed.package), self._given)

    def optimum(self, budget: Fraction) -> Optimum:
        with self.allowance.spend(LONG_SOLVE) as seconds:
            return self.search.optimum(budget, seconds)

    def written_by(self, name: str, budget: Fraction) -> ComparableStore:
        """The store of a writer; if the writer fails, the store says why."""
        if name not in runnable_writers():
            raise MemAuditError(f"{name!r} is not a writer that can be run here")
        store = self.written_within(name, budget)
        assert store is not None
        return store

    def written_within(
        self, name: str, budget: Fraction, seconds: float = math.inf
    ) -> ComparableStore | None:
        """The same, or None if it takes longer. The writer then continues, and a later call gets
        its store. If no time is left, no writer is started."""
        with self.allowance.spend(seconds, WRITERS_SHARE) as allowed:
            if allowed <= 0 and (name, budget) not in self._written:
                return None
            until = time.monotonic() + allowed
            work = self._started(name, budget)
            # In short waits, so that Ctrl-C ends a server whose writer runs for minutes.
            while not is_done(work, min(POLL_SECONDS, until - time.monotonic())):
                if STOP.is_set():
                    raise MemAuditError("the program is ending")
                if time.monotonic() >= until:
                    return None
            return work.result()

    def _started(self, name: str, budget: Fraction) -> Future[ComparableStore]:
        with self._lock:
            if (name, budget) not in self._written:
                self._written[name, budget] = in_background(lambda: self._write(name, budget))
            return self._written[name, budget]

    def _write(self, name: str, budget: Fraction) -> ComparableStore:
        writer = WRITERS[name]
        with self._one_writer:
            if STOP.is_set():
                raise MemAuditError("the program is ending")
            try:
                store = self._subject.written_by(writer, budget, SEED)
                return self.indexed.candidate_store(writer.label, store)
            except MemAuditError as error:
                return ComparableStore(writer.label, (), str(error))

    @cached_property
    def _subject(self) -> EvaluatedPackage:
        """The package as writers see it, with its own solver, since other threads use the
        frontier's."""
        return EvaluatedPackage(self.indexed.package, self._one_solve)

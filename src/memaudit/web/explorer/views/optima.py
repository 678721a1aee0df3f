"""Optima of a package on demand: the frontier within a time limit, and the stores of writers."""

import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from memaudit.core.errors import MemAuditError
from memaudit.core.grounds import assumed_text
from memaudit.core.optimum import Optimum
from memaudit.experiments.evaluate import EvaluatedPackage
from memaudit.report.store_comparison import ComparableStore
from memaudit.report.writer_groups import OPT, Member, members_by_name
from memaudit.solvers.protocol import STOP
from memaudit.solvers.solve import PackageSolver
from memaudit.web.explorer.library.indexed_package import IndexedPackage
from memaudit.writers.protocol import OracleView
from memaudit.writers.registry import WRITERS

ONE_SOLVE = 2.0
"""Seconds per budget. What is not proven by then is not called an optimum."""

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

    def at(self, budget: Fraction) -> FrontierStep:
        """The last step within the budget."""
        return max(
            (step for step in self.steps if step.budget <= budget),
            key=lambda step: (step.budget, step.value), default=self.steps[0],
        )  # fmt: skip


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
        self._tries: dict[Fraction, int] = {}
        self._tried_long: set[Fraction] = set()
        self.spent = 0.0

    def work(self, seconds: float) -> KnownFrontier:
        """Solve more budgets for this long, and return what is known then."""
        with self._lock:
            started = time.monotonic()
            solver = self._oracle.solver
            while time.monotonic() - started < seconds and not STOP.is_set():
                budget = self._next(solver)
                if budget is None:
                    break
                self._tries[budget] = self._tries.get(budget, 0) + 1
                self._solved[budget] = solver.solve(budget, seconds=ONE_SOLVE)
            self.spent += time.monotonic() - started
            return self._known(solver)

    def optimum(self, budget: Fraction) -> Optimum:
        """OPT at one budget, solved now unless it is known or was already tried for long."""
        with self._lock:
            solver = self._oracle.solver
            known = self._solved.get(budget)
            if known is None or not (known.certified or budget in self._tried_long):
                self._tried_long.add(budget)
                known = self._solved[budget] = solver.solve(budget, seconds=10 * ONE_SOLVE)
            return known

    def _next(self, solver: PackageSolver) -> Fraction | None:
        """The budget to solve next; None if all is known or nothing more can be proven."""
        everything = Fraction(sum(solver.form.cost), solver.form.cost_scale)
        unproven = [budget for budget, optimum in self._solved.items() if not optimum.certified]
        retries = [budget for budget in unproven if self._tries.get(budget, TRIES) < TRIES]
        unseen = [b for b in (*self.given, everything, Fraction(0)) if b not in self._solved]
        if retries or unseen:
            return (*retries, *unseen)[0]
        if len(unproven) > MOST_UNPROVEN:
            return None
        gaps = [(area, budget) for area, budget in self._gaps(solver) if area > 0]
        return max(gaps)[1] if gaps else None

    def _gaps(self, solver: PackageSolver) -> Iterable[tuple[Fraction, Fraction]]:
        """Intervals of budgets where OPT is not known: the area, and a budget in the middle."""
        grain = Fraction(1, solver.form.cost_scale)
        proven = [self._solved[b] for b in sorted(self._solved) if self._solved[b].certified]
        for low, high in pairwise(proven):
            last = high.cost - grain
            if _solver_value(low) == _solver_value(high) or last <= low.budget:
                continue
            steps = int((last - low.budget) / grain)
            middle = low.budget + grain * max(1, steps // 2)
            if middle not in self._solved:
                yield (_solver_value(high) - _solver_value(low)) * (last - low.budget), middle

    def _known(self, solver: PackageSolver) -> KnownFrontier:
        steps: list[FrontierStep] = []
        for budget in sorted(self._solved):
            best = self._solved[budget]
            if steps and steps[-1].certified and best.certified and steps[-1].value >= best.value:
                continue  # the cheaper store is worth as much
            start = best.cost if best.certified else budget
            steps.append(FrontierStep(start, best.value, best.store, best.certified, best.bound))
        steps.sort(key=lambda step: step.budget)
        has_gaps = next(iter(self._gaps(solver)), None) is not None
        unproven = [step for step in steps if not step.certified]
        ended = self._next(solver) is None
        is_complete = ended and not has_gaps and not unproven
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


def runnable_writers() -> dict[str, Member]:
    """The writers that can be run on any package, references last; OPT is what they are compared
    with."""
    writers = sorted(WRITERS.values(), key=lambda writer: writer.peeks)
    return members_by_name({writer.name: writer.peeks for writer in writers if writer.name != OPT})


class PackageOptima:
    """Optima and stores of one package. `given` are its own budgets and those of runs about it."""

    def __init__(self, indexed: IndexedPackage, given: Iterable[Fraction] = ()) -> None:
        self.indexed = indexed
        self._given = tuple(given)
        self._lock, self._one_writer = threading.Lock(), threading.Lock()
        self._written: dict[tuple[str, Fraction], Future[ComparableStore]] = {}

    def fits(self, indexed: IndexedPackage, given: tuple[Fraction, ...]) -> bool:
        """Whether this is about an equal package and the same budgets."""
        same = self.indexed is indexed or self.indexed.package == indexed.package
        return same and self._given == given

    @cached_property
    def search(self) -> FrontierSearch:
        return FrontierSearch(OracleView(self.indexed.package), self._given)

    def optimum(self, budget: Fraction) -> Optimum:
        return self.search.optimum(budget)

    def written_by(self, name: str, budget: Fraction) -> ComparableStore:
        """The store of a writer; if the writer fails, the store says why."""
        if name not in runnable_writers():
            raise MemAuditError(f"{name!r} is not a writer that can be run here")
        store = self.written_within(name, budget, None)
        assert store is not None
        return store

    def written_within(
        self, name: str, budget: Fraction, seconds: float | None
    ) -> ComparableStore | None:
        """The same, or None if it takes longer. The writer then continues, and a later call gets
        its store. If no time is left, no writer is started."""
        until = None if seconds is None else time.monotonic() + seconds
        if seconds is not None and seconds <= 0 and (name, budget) not in self._written:
            return None
        work = self._started(name, budget)
        while True:
            left = POLL_SECONDS if until is None else min(POLL_SECONDS, until - time.monotonic())
            try:
                return work.result(max(0.0, left))
            except TimeoutError:
                if STOP.is_set():
                    raise MemAuditError("the program is ending") from None
                if left < POLL_SECONDS:
                    return None

    def _started(self, name: str, budget: Fraction) -> Future[ComparableStore]:
        """A writer in a daemon thread, which does not keep the program from ending."""
        with self._lock:
            if (name, budget) not in self._written:
                work = self._written[name, budget] = Future()
                threading.Thread(target=self._write, args=(work, name, budget), daemon=True).start()
            return self._written[name, budget]

    def _write(self, work: Future[ComparableStore], name: str, budget: Fraction) -> None:
        writer = WRITERS[name]
        with self._one_writer:
            if STOP.is_set():
                return
            try:
                store = self._subject.written_by(writer, budget, SEED)
                work.set_result(self.indexed.candidate_store(writer.label, store))
            except MemAuditError as error:
                work.set_result(ComparableStore(writer.label, (), str(error)))
            finally:
                work.cancel()  # an unexpected error must not leave anybody waiting

    @cached_property
    def _subject(self) -> EvaluatedPackage:
        """The package as writers see it, with its own solver, since other threads use the
        frontier's."""
        return EvaluatedPackage(self.indexed.package, ONE_SOLVE)

"""Optima of a package on demand: along the budget, within a time limit, and what writers keep."""

import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from memaudit.core.errors import MemAuditError
from memaudit.core.optimum import Optimum
from memaudit.experiments.evaluate import Subject
from memaudit.report.writer_groups import OPT, Member, cast
from memaudit.solvers.protocol import STOP
from memaudit.solvers.solve import PackageSolver
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.views.store_comparison import Held, of_candidates
from memaudit.writers.protocol import OracleView
from memaudit.writers.registry import WRITERS

ONE_SOLVE = 2.0
"""Seconds that one budget may take; what is not proven by then is not called an optimum."""

TRIES = 2
"""The first solve of a process loads the compiled code, and may lose its time to that."""

MOST_UNPROVEN = 6
"""After so many budgets without proof the package is too hard for a curve."""


@dataclass(frozen=True, slots=True)
class Step:
    """From `budget` on OPT is `value`, reached by `store`; at most `bound` if not certified."""

    budget: Fraction
    value: Fraction
    store: tuple[str, ...]
    certified: bool
    bound: Fraction


@dataclass(frozen=True, slots=True)
class Frontier:
    """The steps that are known; `whole` if there are no others."""

    steps: tuple[Step, ...]
    whole: bool
    note: str
    given: tuple[Fraction, ...]

    def at(self, budget: Fraction) -> Step:
        """The last step that the budget pays for."""
        return max(
            (step for step in self.steps if step.budget <= budget),
            key=lambda step: (step.budget, step.value), default=self.steps[0],
        )  # fmt: skip


class Search:
    """The frontier of one package, worked on in slices of time; `given` budgets come first."""

    def __init__(self, oracle: OracleView, given: Iterable[Fraction] = ()) -> None:
        self._oracle = oracle
        self.given = tuple(sorted(set(given)))
        self._lock = threading.Lock()
        self._solved: dict[Fraction, Optimum] = {}
        self._tries: dict[Fraction, int] = {}
        self._tried_long: set[Fraction] = set()
        self.spent = 0.0

    def work(self, seconds: float) -> Frontier:
        """Go on for some time, and say what is known then."""
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
        """OPT at one budget, solved now unless it is known, or known to be too hard."""
        with self._lock:
            solver = self._oracle.solver
            known = self._solved.get(budget)
            if known is None or not (known.certified or budget in self._tried_long):
                self._tried_long.add(budget)
                known = self._solved[budget] = solver.solve(budget, seconds=10 * ONE_SOLVE)
            return known

    def _next(self, solver: PackageSolver) -> Fraction | None:
        """The budget to solve next; None where all is known, or nothing more can be proven."""
        everything = Fraction(sum(solver.form.cost), solver.form.cost_scale)
        unproven = [budget for budget, one in self._solved.items() if not one.certified]
        again = [budget for budget in unproven if self._tries.get(budget, TRIES) < TRIES]
        unseen = [b for b in (*self.given, everything, Fraction(0)) if b not in self._solved]
        if again or unseen:
            return (*again, *unseen)[0]
        if len(unproven) > MOST_UNPROVEN:
            return None
        doubts = [(area, place) for area, place in self._doubts(solver) if area > 0]
        return max(doubts)[1] if doubts else None

    def _doubts(self, solver: PackageSolver) -> Iterable[tuple[Fraction, Fraction]]:
        """Stretches where OPT is not known: the area of doubt, and a budget in the middle."""
        grain = Fraction(1, solver.form.cost_scale)
        proven = [self._solved[b] for b in sorted(self._solved) if self._solved[b].certified]
        for low, high in pairwise(proven):
            last = high.cost - grain
            if _worth(low) == _worth(high) or last <= low.budget:
                continue
            steps = int((last - low.budget) / grain)
            middle = low.budget + grain * max(1, steps // 2)
            if middle not in self._solved:
                yield (_worth(high) - _worth(low)) * (last - low.budget), middle

    def _known(self, solver: PackageSolver) -> Frontier:
        steps: list[Step] = []
        for budget in sorted(self._solved):
            found = self._solved[budget]
            step = Step(found.cost, found.value, found.store, found.certified, found.bound)
            if not found.certified:
                step = Step(budget, found.value, found.store, False, found.bound)
            if steps and steps[-1].certified and found.certified and steps[-1].value >= found.value:
                continue  # the cheaper store is worth as much
            steps.append(step)
        steps.sort(key=lambda step: step.budget)
        open_ = next(iter(self._doubts(solver)), None) is not None
        unproven = [step for step in steps if not step.certified]
        ended = self._next(solver) is None
        whole = ended and not open_ and not unproven
        note = self._note(steps, whole, len(unproven), ended)
        return Frontier(tuple(steps), whole, note, self.given)

    def _note(self, steps: list[Step], whole: bool, unproven: int, ended: bool) -> str:
        if whole:
            return f"Exact at every budget: OPT has {len(steps)} steps, each with a checked proof."
        proven = len(steps) - unproven
        so_far = "" if ended else " so far"
        text = (
            f"OPT is proven at {proven} budgets{so_far}; between two of them it lies between their "
            "values."
        )
        if unproven:
            text += f" At {unproven} the time ran out: the store shown is the best one found."
        return text


def _worth(found: Optimum) -> Fraction:
    """What the solver maximised: the upper end where some h is irrational."""
    return found.value if found.value_high is None else found.value_high


SEED = 0
"""Writers that draw at random get this seed where they are run for a page."""
ATTENTION = 0.2
"""Seconds after which whoever waits for a writer looks whether the program is ending."""


def runnable() -> dict[str, Member]:
    """The writers that can be run on any package, references last: all but OPT, which they are held
    against."""
    writers = sorted(WRITERS.values(), key=lambda writer: writer.peeks)
    return cast({writer.name: writer.peeks for writer in writers if writer.name != OPT})


class Workshop:
    """One package at work; `given` are the budgets it declares and those of runs about it."""

    def __init__(self, opened: Opened, given: Iterable[Fraction] = ()) -> None:
        self.opened = opened
        self._given = tuple(given)
        self._lock, self._desk = threading.Lock(), threading.Lock()
        self._written: dict[tuple[str, Fraction], Future[Held]] = {}

    def fits(self, opened: Opened, given: tuple[Fraction, ...]) -> bool:
        """Whether this is about the same package, whenever that was read, and the same budgets."""
        same = self.opened is opened or self.opened.package == opened.package
        return same and self._given == given

    @cached_property
    def search(self) -> Search:
        """The frontier, worked on in slices."""
        return Search(OracleView(self.opened.package), self._given)

    def optimum(self, budget: Fraction) -> Optimum:
        """OPT at a budget."""
        return self.search.optimum(budget)

    def written_by(self, name: str, budget: Fraction) -> Held:
        """What a writer keeps; one that fails says why."""
        if name not in runnable():
            raise MemAuditError(f"{name!r} is no writer that can be run here")
        held = self.soon(name, budget, None)
        assert held is not None
        return held

    def soon(self, name: str, budget: Fraction, seconds: float | None) -> Held | None:
        """The same unless it takes longer; then the writer goes on, and is asked for again. Without
        any time nobody is sent to work."""
        until = None if seconds is None else time.monotonic() + seconds
        if seconds is not None and seconds <= 0 and (name, budget) not in self._written:
            return None
        work = self._begun(name, budget)
        while True:
            left = ATTENTION if until is None else min(ATTENTION, until - time.monotonic())
            try:
                return work.result(max(0.0, left))
            except TimeoutError:
                if STOP.is_set():
                    raise MemAuditError("the program is ending") from None
                if left < ATTENTION:
                    return None

    def _begun(self, name: str, budget: Fraction) -> Future[Held]:
        """The work of a writer, in a thread that does not keep the program from ending."""
        with self._lock:
            if (name, budget) not in self._written:
                work = self._written[name, budget] = Future()
                threading.Thread(target=self._write, args=(work, name, budget), daemon=True).start()
            return self._written[name, budget]

    def _write(self, work: Future[Held], name: str, budget: Fraction) -> None:
        writer = WRITERS[name]
        with self._desk:  # one writer at a time
            if STOP.is_set():
                return
            try:
                store = self._subject.written_by(writer, budget, SEED)
                work.set_result(of_candidates(self.opened, writer.label, store))
            except MemAuditError as error:
                work.set_result(Held(writer.label, (), str(error)))
            finally:
                work.cancel()  # whoever waits is not left waiting by an error of ours

    @cached_property
    def _subject(self) -> Subject:
        """The package as writers see it, with a solver that is not the frontier's: that one is at
        work in other threads."""
        return Subject(self.opened.package, ONE_SOLVE)

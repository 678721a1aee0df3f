"""What is worked out for one package on demand, and kept: optima, and what writers would keep."""

import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future
from fractions import Fraction
from functools import cached_property

from memaudit.core.errors import MemAuditError
from memaudit.core.optimum import Optimum
from memaudit.experiments.evaluate import Subject
from memaudit.report.page.cast import OPT, Member, cast
from memaudit.solvers.protocol import STOP
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.views.frontier import ONE_SOLVE, Search
from memaudit.web.explorer.views.held import Held, of_candidates
from memaudit.writers.protocol import OracleView
from memaudit.writers.registry import WRITERS

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

"""What is worked out for one package on demand, and kept: optima, and what writers would keep."""

import threading
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

from memaudit.core.errors import MemAuditError
from memaudit.core.optimum import Optimum
from memaudit.experiments.evaluate import Subject
from memaudit.report.page.cast import Member, cast
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.views.frontier import Search
from memaudit.web.explorer.views.held import Held, of_candidates
from memaudit.writers.registry import WRITERS

SEED = 0
"""Writers that draw at random get this seed where they are run for a page."""


def deployable() -> dict[str, Member]:
    """The writers that can be run on any package: they see nothing hidden."""
    return cast({name: False for name, writer in WRITERS.items() if not writer.peeks})


class Workshop:
    """One package at work; `given` are the budgets it declares and those of runs about it."""

    def __init__(self, opened: Opened, given: Iterable[Fraction] = ()) -> None:
        self.opened = opened
        self._given = tuple(given)
        self._lock = threading.RLock()
        self._written: dict[tuple[str, Fraction], Held] = {}

    @cached_property
    def subject(self) -> Subject:
        """The package with both of its views, and its solver."""
        return Subject(self.opened.package)

    @cached_property
    def search(self) -> Search:
        """The frontier, worked on in slices."""
        return Search(self.subject.oracle, self._given)

    def optimum(self, budget: Fraction) -> Optimum:
        """OPT at a budget."""
        return self.search.optimum(budget)

    def written_by(self, name: str, budget: Fraction) -> Held:
        """What a deployable writer keeps; one that fails says why."""
        if name not in WRITERS or WRITERS[name].peeks:
            raise MemAuditError(f"{name!r} is no writer that can be run here")
        writer = WRITERS[name]
        with self._lock:
            if (name, budget) not in self._written:
                try:
                    store = self.subject.written_by(writer, budget, SEED)
                    held = of_candidates(self.opened, writer.label, store)
                except MemAuditError as error:
                    held = Held(writer.label, (), str(error))
                self._written[name, budget] = held
            return self._written[name, budget]

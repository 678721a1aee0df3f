"""What every solver takes and returns: limits, solution, proof."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from memaudit.kernel.package.optimum import COARSE, Layout
from memaudit.kernel.solvers.form import Form

Tell = Callable[[int, int | None, int], None]
"""Takes the value of the best store so far, a bound on every store's (None: no news) and nodes."""

TELL_EVERY = 0.1
"""Seconds between two reports of a solve at least."""


@dataclass(slots=True)
class Limits:
    """When to stop early; the result is then a bound, never a wrong optimum.

    `nodes` are compared with those a solver has visited, so they stop it at the same node on every
    machine; `seconds` do not. The number of `threads` changes the time that a solve takes, not its
    result. `stop` ends solves of several threads together; `interrupted` says that this one met
    Ctrl-C. `started` is moved forward by work that is not solving.
    """

    seconds: float | None = None
    nodes: int | None = None
    threads: int = 1
    progress: Tell | None = None
    stop: threading.Event | None = None
    started: float = field(default_factory=time.monotonic)
    interrupted: bool = False
    told: float = 0.0

    def within(self, nodes: int) -> "Limits":
        """The same limits with so many nodes at most."""
        return replace(self, nodes=min(nodes, self.nodes or nodes))

    def out(self, nodes: int) -> bool:
        """Whether it is time to stop after so many nodes."""
        return self.expired or (self.nodes is not None and nodes >= self.nodes)

    def tell(self, value: int, bound: int | None, nodes: int) -> None:
        """Report how far a solve is, though not too often."""
        if self.progress is not None and self.spent - self.told >= TELL_EVERY:
            self.told = self.spent
            self.progress(value, bound, nodes)

    def wait_for(self, work: Callable[[], None]) -> None:
        """Stop the clock during work that is not solving."""
        begun = time.monotonic()
        try:
            work()
        finally:
            self.started += time.monotonic() - begun

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def expired(self) -> bool:
        """Whether it is time to stop: Ctrl-C was pressed or the time is up."""
        stopped = self.stop is not None and self.stop.is_set()
        return stopped or self.interrupted or self.left == 0.0

    @property
    def left(self) -> float | None:
        """Seconds left, or None without a limit."""
        if self.seconds is None:
            return None
        return max(0.0, self.seconds - self.spent)


LEAF, BRANCH, MU, PRICE, FIX, ZERO, LAYOUT, BROKEN, ACROSS = range(9)
"""The words of a proof. They are a file format; checker.py, which shares no code, has them too."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A solver's tree as a program for the checker (its language: see checker.py)."""

    tape: tuple[int, ...]
    layouts: tuple[Layout, ...] = ()
    fineness: int = COARSE


@dataclass(frozen=True, slots=True)
class Solution:
    """What a backend found, in the integers of the form it was given.

    `bound` is a valid upper bound on the form's optimum, proven in integers; None where the
    backend proves nothing in integers (floating-point MILP, for example). `closed` says that the
    backend claims the store to be optimal.
    """

    chosen: tuple[int, ...]
    value: int
    bound: int | None
    closed: bool
    proof: Proof | None = None
    statistics: dict[str, int | float | str] = field(default_factory=dict)


class Solver(Protocol):
    """A backend: one small module, registered in kernel/solvers/registry.py."""

    name: str

    def accepts(self, form: Form) -> str:
        """Why this backend cannot take the form, or an empty string."""
        ...

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
        """Solve, starting from a feasible hint; stop at the limits with what is known."""
        ...

"""The backends by name. A new solver is one file and one line here; conformance tests find it."""

from collections.abc import Callable
from dataclasses import replace

from memaudit.kernel.errors import UnknownSolver
from memaudit.kernel.solvers.fast import Fast
from memaudit.kernel.solvers.form import Form
from memaudit.kernel.solvers.highs import Highs
from memaudit.kernel.solvers.protocol import Limits, Solution, Solver
from memaudit.kernel.solvers.reference import BruteForce, Reference

FAST_NODES = 200_000
"""Nodes of the fast solver before another backend is asked for a better store."""


class Auto:
    """Picks by the form alone, never by the clock, so that the same package gives the same store.

    Forms too large for 64-bit arithmetic go to the reference solver in Python integers. Where the
    fast solver's tree grows too large, HiGHS looks for a better store, with which the fast solver
    tries once more to prove optimality.
    """

    name = "auto"

    def accepts(self, form: Form) -> str:  # noqa: ARG002 - takes everything
        return ""

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
        fast = Fast()
        first = limits.within(FAST_NODES)
        # Nodes, not seconds, decide when others are asked: the same package gives the same store.
        solution = fast.try_to_solve(form, first, hint)
        if solution is None:
            return Reference().solve(form, limits, hint)
        # `first` is a copy; the clock it stopped while compiling, and an interrupt, must come back.
        limits.interrupted, limits.started = first.interrupted, first.started
        if solution.closed or limits.expired:
            return solution
        highs = Highs()
        if not highs.accepts(form):
            better = highs.solve(form, limits, solution.chosen)
            if better.value > solution.value:
                hint = better.chosen
        second = fast.solve(form, limits, hint or solution.chosen)
        # Both bounds hold, so the lower one does.
        if second.closed or second.bound is None or solution.bound is None:
            return second
        return replace(second, bound=min(second.bound, solution.bound))


SOLVERS: dict[str, Callable[[], Solver]] = {
    Auto.name: Auto,
    Fast.name: Fast,
    BruteForce.name: BruteForce,
    Reference.name: Reference,
    Highs.name: Highs,
}


def named_solver(name: str) -> Solver:
    """A fresh backend of that name."""
    if name not in SOLVERS:
        raise UnknownSolver(f"unknown solver {name!r}; known solvers: {', '.join(sorted(SOLVERS))}")
    return SOLVERS[name]()

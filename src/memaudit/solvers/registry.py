"""The backends by name. A new solver is one file and one line here; conformance tests find it."""

from collections.abc import Callable

from memaudit.core.errors import UnknownSolver
from memaudit.solvers.auto import Auto
from memaudit.solvers.brute import BruteForce
from memaudit.solvers.fast import Fast
from memaudit.solvers.highs import Highs
from memaudit.solvers.protocol import Solver
from memaudit.solvers.reference import Reference

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

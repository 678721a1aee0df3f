"""The backends by name. A new solver is one file and one line here; conformance tests find it."""

from collections.abc import Callable

from memaudit.kernel.errors import UnknownSolver
from memaudit.kernel.solvers.auto import Auto
from memaudit.kernel.solvers.brute import BruteForce
from memaudit.kernel.solvers.fast import Fast
from memaudit.kernel.solvers.highs import Highs
from memaudit.kernel.solvers.protocol import Solver
from memaudit.kernel.solvers.reference import Reference

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

"""Every backend on the same rows: optima must be equal, exactly (paper, table 1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import islice

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.solvers.registry import SOLVERS
from memaudit.kernel.solvers.solve import PackageSolver
from memaudit.lab.sweeps.generators.registry import PUBLISHED, named_distribution
from memaudit.workspace.engines import Engine

BUDGETS = (1, 2, 4, 6, 8, 16)
ROWS = 1200
YARDSTICK = "reference"
"""The backend the others are compared with: plain Python integers, nothing compiled."""


@dataclass(frozen=True, slots=True)
class SolverDifference:
    """A row where the value of a backend differs."""

    package: str
    budget: int
    solver: str
    value: Fraction
    expected: Fraction


@dataclass(slots=True)
class SolverTally:
    """One backend over all rows. Rows too large for it are counted as refused."""

    solver: str
    rows: int = 0
    matches: int = 0
    certified: int = 0
    refused: int = 0
    largest: Fraction = Fraction(0)
    differing: list[SolverDifference] = field(default_factory=list)

    def add(self, other: "SolverTally") -> None:
        self.rows += other.rows
        self.matches += other.matches
        self.certified += other.certified
        self.refused += other.refused
        self.largest = max(self.largest, other.largest)
        self.differing += other.differing


AuditTask = tuple[str, int, tuple[int, ...]]
"""Distribution, seed and budgets."""


def audit_tasks(rows: int) -> Iterator[AuditTask]:
    """Packages of every distribution in turn, at all budgets, until there are enough rows."""
    # A small event graph stands for texts and word costs; the published tables have few candidates.
    names = [*PUBLISHED, "event_graph:experiences=8"]
    left, seed = rows, 0
    while left > 0:
        for name in names:
            if left <= 0 or (seed > 0 and not named_distribution(name).draws):
                continue
            budgets = tuple(islice(BUDGETS, left))
            yield name, seed, budgets
            left -= len(budgets)
        seed += 1


def audit_package(solvers: Sequence[str], row: AuditTask) -> dict[str, SolverTally]:
    """One package at its budgets, solved by every backend."""
    name, seed, budgets = row
    package = named_distribution(name).package(seed)
    tallies = {solver: SolverTally(solver) for solver in solvers}
    backends = {solver: PackageSolver(package, solver=solver) for solver in (YARDSTICK, *solvers)}
    for budget in budgets:
        optima = {solver: _solved(backend, budget) for solver, backend in backends.items()}
        expected = optima[YARDSTICK]
        # Nothing can be compared with a yardstick that did not prove its own value.
        if expected is None or not expected.certified:
            raise MemAuditError(f"{YARDSTICK} did not certify {package.name} at budget {budget}")
        for solver, tally in tallies.items():
            _count(tally, budget, optima[solver], expected)
    return tallies


def _solved(solver: PackageSolver, budget: int) -> Optimum | None:
    """The optimum, or None where the package is too large for the backend."""
    form = solver.form.at(Fraction(budget), solver.group_cap)
    return None if solver.backend.accepts(form) else solver.solve(budget)


def _count(tally: SolverTally, budget: int, optimum: Optimum | None, expected: Optimum) -> None:
    if optimum is None:
        tally.refused += 1
        return
    gap = abs(optimum.value - expected.value)
    tally.rows += 1
    tally.certified += optimum.certified
    tally.matches += gap == 0
    tally.largest = max(tally.largest, gap)
    if gap:
        tally.differing.append(
            SolverDifference(optimum.package, budget, tally.solver, optimum.value, expected.value)
        )


def audit_solvers(
    rows: int, engine: Engine, solvers: Sequence[str] = ()
) -> Iterator[dict[str, SolverTally]]:
    """Tallies so far, after each package."""
    names = tuple(solvers) or tuple(SOLVERS)
    total = {solver: SolverTally(solver) for solver in names}
    for part in engine.map(partial(audit_package, names), audit_tasks(rows)):
        for solver, tally in part.items():
            total[solver].add(tally)
        yield total

"""The frontier section: OPT for every budget, against single solves and proven optima."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from statistics import median
from time import perf_counter

from bench.families import DEFAULT_SEEDS, family, warm_up
from bench.instance import Instance, as_package
from bench.launch import run_solver
from bench.model import OVER_LIMIT, PeerResult
from bench.peers import missing
from bench.real_unions import real_unions
from bench.worker import OURS
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.solvers.frontier import frontier
from memaudit.kernel.solvers.packed import Packed
from memaudit.kernel.solvers.solve import STOP

MAX_BUDGET = 5000
REAL = ("R1", "R2", "R5")
"""The real unions whose frontier is computed."""


@dataclass(frozen=True, slots=True)
class FrontierLine:
    """One problem: OPT for all budgets at once against one run per budget.

    `peer_seconds` is extrapolated: the peer's median over the sampled budgets, times all budgets.
    `solve_seconds` is the median of our own single solves.
    """

    name: str
    seconds: float
    peer: str
    peer_seconds: float | None
    solve_seconds: float | None
    compared: int
    differing: tuple[int, ...]
    note: str = ""

    @property
    def solves(self) -> float | None:
        """How many single solves it took as long as."""
        return self.seconds / self.solve_seconds if self.solve_seconds else None


def frontier_lines(
    families: Sequence[str], seeds: Sequence[int] | None, seconds: float, threads: int
) -> list[FrontierLine]:
    """The frontiers of family C, of one generated union of each density and of real unions."""
    frontier(as_package(warm_up()[2]), max_budget=50)
    problems = family("C", seeds) if "C" in families else []
    if "R" in families:
        problems += family("R", (seeds or DEFAULT_SEEDS["R"])[:1])
        for union in real_unions() if seeds is None else ():
            problems += union.instances if union.name in REAL else []
    return [
        _frontier_line(name, list(instances), seconds, threads)
        for name, instances in groupby(problems, lambda one: one.name.rpartition(" B ")[0])
    ]


def _frontier_line(
    name: str, instances: Sequence[Instance], seconds: float, threads: int
) -> FrontierLine:
    package = as_package(instances[0])
    reached = ""

    def progress(done: int, budgets: int) -> None:
        nonlocal reached
        reached = f", {done} of {budgets} budgets"

    timer = threading.Timer(seconds, STOP.set)
    timer.start()
    start = perf_counter()
    try:
        values = frontier(package, MAX_BUDGET, progress=progress, threads=threads).values
    except MemAuditError as error:
        taken = perf_counter() - start
        note = f"not finished in {taken:.0f} s{reached} ({error})"
        return FrontierLine(name, taken, "", None, None, 0, (), note)
    finally:
        timer.cancel()
        STOP.clear()
    taken = perf_counter() - start
    packed = [instance.packed for instance in instances]
    peer, results = _by_a_peer(packed, seconds, threads)
    ours = run_solver(OURS, packed, seconds, threads=threads)
    return FrontierLine(
        name=name,
        seconds=taken,
        peer=peer,
        peer_seconds=_times(results, MAX_BUDGET + 1),
        solve_seconds=_times(ours.results, 1),
        compared=sum(result.proven for result in results),
        differing=differing(instances, results, values),
    )


def _by_a_peer(
    problems: Sequence[Packed], seconds: float, threads: int
) -> tuple[str, list[PeerResult]]:
    """Gurobi where it is installed and the problems are within its licence, else HiGHS."""
    if not missing("gurobi"):
        results = run_solver("gurobi", problems, seconds, threads=threads).results
        if all(result.note != OVER_LIMIT for result in results):
            return "Gurobi", results
    return "HiGHS", run_solver("highs", problems, seconds, threads=threads).results


def _times(results: Sequence[PeerResult], number: int) -> float | None:
    proven = [result.seconds for result in results if result.proven]
    return median(proven) * number if proven else None


def differing(
    instances: Sequence[Instance], results: Sequence[PeerResult], values: Sequence[Fraction]
) -> tuple[int, ...]:
    """The sampled budgets where the frontier is not the proven optimum."""
    return tuple(
        instance.packed.budget
        for instance, result in zip(instances, results, strict=True)
        if result.proven
        and values[instance.packed.budget] != Fraction(result.value, instance.scale)
    )

"""The sections besides peers and explorer: frontier, certificates, memory and sweep."""

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.families import C_BUDGETS, family, warm_up
from bench.instance import Instance, as_package
from bench.launch import run_solver
from bench.model import PeerResult
from bench.worker import OURS
from memaudit.checker import verify
from memaudit.core.errors import MemAuditError
from memaudit.experiments.engines.local import Processes
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.summary import summarise
from memaudit.experiments.sweep import run
from memaudit.generators.registry import PUBLISHED
from memaudit.solvers.frontier import frontier
from memaudit.solvers.solve import solve

MAX_BUDGET = max(C_BUDGETS)
CHECK_TARGET = 2.0
"""Checking a certificate may take this many times as long as solving."""
SIZE_TARGET = 1_000_000
MEMORY_TARGET = 2_000_000_000


@dataclass(frozen=True, slots=True)
class FrontierLine:
    """One conversation: OPT for all budgets at once against one HiGHS run per budget.

    `highs_seconds` is extrapolated: its median over the sampled budgets, times all budgets.
    """

    name: str
    seconds: float
    highs_seconds: float | None
    compared: int
    differing: tuple[int, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class CertificateLine:
    """One certified solve, and the check of its certificate."""

    name: str
    certified: bool
    solve_seconds: float
    check_seconds: float
    json_bytes: int
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.check_seconds / self.solve_seconds


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """The peak memory of our solver's process; 0 if the process died."""

    peak_bytes: int
    solved: int
    problems: int


def frontier_lines(seeds: Iterable[int] | None, seconds: float) -> list[FrontierLine]:
    """The frontier of every conversation of family C."""
    frontier(as_package(warm_up()[2]), max_budget=50)
    return [_frontier_line(instances, seconds) for instances in _conversations(seeds)]


def _frontier_line(instances: Sequence[Instance], seconds: float) -> FrontierLine:
    package = as_package(instances[0])
    name = instances[0].name.rpartition(" B ")[0]  # the conversation, without its budget
    start = perf_counter()

    def within_time(done: int, budgets: int) -> None:
        if perf_counter() - start > seconds:
            raise MemAuditError(
                "memories that span sessions connect its parts, so budgets are solved "
                f"one by one: {done} of {budgets} in {perf_counter() - start:.0f} s, not finished"
            )

    try:
        values = frontier(package, MAX_BUDGET, progress=within_time).values
    except MemAuditError as error:
        return FrontierLine(name, perf_counter() - start, None, 0, (), str(error))
    taken = perf_counter() - start
    results = run_solver("highs", [instance.packed for instance in instances], seconds).results
    times = [result.seconds for result in results if result.proven]
    return FrontierLine(
        name=name,
        seconds=taken,
        highs_seconds=median(times) * (MAX_BUDGET + 1) if times else None,
        compared=len(times),
        differing=differing(instances, results, values),
    )


def differing(
    instances: Sequence[Instance], results: Sequence[PeerResult], values: Sequence[Fraction]
) -> tuple[int, ...]:
    """The sampled budgets where the frontier is not the proven optimum."""
    return tuple(
        instance.packed.budget
        for instance, result in zip(instances, results, strict=True)
        if result.proven
        and values[instance.packed.budget] != Fraction(result.value, int(instance.packed.tops[0]))
    )


def certificate_lines(seeds: Iterable[int] | None, seconds: float) -> list[CertificateLine]:
    """Solve, certify and check every problem of family C."""
    for warm in warm_up():
        _certificate_line(warm, seconds)
    return [_certificate_line(instance, seconds) for instance in family("C", seeds)]


def _certificate_line(instance: Instance, seconds: float) -> CertificateLine:
    package = as_package(instance)
    start = perf_counter()
    # Unchecked, so that the check is timed apart: by default `solve` includes one.
    optimum = solve(package, instance.packed.budget, seconds=seconds, check=False)
    solved = perf_counter()
    if optimum.certificate is None:
        return CertificateLine(instance.name, False, solved - start, 0.0, 0, optimum.note)
    verdict = verify(package, optimum.certificate)
    checked = perf_counter()
    size = len(json.dumps(optimum.certificate.to_json(), separators=(",", ":")))
    return CertificateLine(
        instance.name, verdict.valid, solved - start, checked - solved, size, verdict.reason
    )


def memory_line(seeds: Iterable[int] | None, seconds: float) -> MemoryLine:
    """Our solver alone on family D."""
    problems = [instance.packed for instance in family("D", seeds)]
    outcome = run_solver(OURS, problems, seconds)
    solved = sum(result.proven for result in outcome.results)
    return MemoryLine(outcome.peak_bytes, solved, len(problems))


def _conversations(seeds: Iterable[int] | None) -> list[list[Instance]]:
    """The problems of family C, one list per conversation."""
    problems = family("C", seeds)
    size = len(C_BUDGETS)
    return [problems[start : start + size] for start in range(0, len(problems), size)]


BUDGETS = ("1", "2", "4", "6", "8", "16")
WRITERS = (
    "gvt",
    "greedy",
    "density_only",
    "fact_only",
    "summary_only",
    "no_tombstone_opt",
    "no_tombstone_gvt",
    "random_feasible",
    "recency_raw",
    "reservoir_raw",
)
SEEDS = (125, 250, 500)
TARGET_SECONDS = 60.0
"""What the largest run, rows and summary, may take on two cores."""


@dataclass(frozen=True, slots=True)
class SweepLine:
    """One run: rows written, optima certified, seconds for rows and for the summary."""

    seeds: int
    rows: int
    uncertified: int
    seconds: float
    summary_seconds: float
    processes: int

    @property
    def total(self) -> float:
        return self.seconds + self.summary_seconds

    @property
    def rate(self) -> float:
        """Rows per second, summary included."""
        return self.rows / self.total


def sweep_lines() -> list[SweepLine]:
    """Runs of growing size, after one small run that warms up every process."""
    engine = Processes()
    _line(engine, 8)
    return [_line(engine, seeds) for seeds in SEEDS]


def _line(engine: Processes, seeds: int) -> SweepLine:
    spec = RunSpec(PUBLISHED, tuple(range(seeds)), BUDGETS, WRITERS)
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        outcome = run(spec, Path(folder), engine)
        written = perf_counter()
        summary = summarise(Path(folder))
        end = perf_counter()
    uncertified = sum(row["uncertified"] for row in summary["rows"])
    return SweepLine(seeds, outcome.rows, uncertified, written - start, end - written, engine.jobs)

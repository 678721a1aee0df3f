"""The sections certificates, memory and sweep."""

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench.families import family, warm_up
from bench.instance import Instance, as_package
from bench.launch import run_solver
from bench.real_unions import real_instances
from bench.worker import OURS
from memaudit.kernel.checker import verify
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.sweeps.generators.registry import PUBLISHED
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.summary import summarise
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace.engines import Processes

CHECK_TARGET = 2.0
"""Checking a certificate of family C may take this many times as long as solving."""
SIZE_TARGET = 1_000_000
"""Bytes of the largest certificate of family C."""
UNION_CHECK_TARGET, UNION_SIZE_TARGET = 1.0, 50_000
"""Seconds and bytes of the median certificate of family R."""
MEMORY_TARGET = 2_000_000_000


@dataclass(frozen=True, slots=True)
class CertificateLine:
    """One certified solve, and the check of its certificate."""

    family: str
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


def certificate_lines(
    families: Iterable[str], seeds: Sequence[int] | None, seconds: float, threads: int
) -> list[CertificateLine]:
    """Solve, certify and check every problem of some families, the real ones of R too."""
    for warm in warm_up():
        _certificate_line("", warm, seconds, threads)
    lines = []
    for name in families:
        problems = family(name, seeds)
        if name == "R" and seeds is None:
            problems += real_instances()
        lines += [_certificate_line(name, instance, seconds, threads) for instance in problems]
    return lines


def _certificate_line(
    family: str, instance: Instance, seconds: float, threads: int
) -> CertificateLine:
    package = as_package(instance)
    start = perf_counter()
    # Unchecked, so that the check is timed apart: by default `solve` includes one.
    optimum = solve(package, instance.packed.budget, seconds=seconds, check=False, threads=threads)
    solved = perf_counter()
    if optimum.certificate is None:
        return CertificateLine(family, instance.name, False, solved - start, 0.0, 0, optimum.note)
    verdict = verify(package, optimum.certificate)
    checked = perf_counter()
    size = len(json.dumps(optimum.certificate.to_json(), separators=(",", ":")))
    return CertificateLine(
        family,
        instance.name,
        verdict.valid,
        solved - start,
        checked - solved,
        size,
        verdict.reason,
    )


def memory_line(seeds: Iterable[int] | None, seconds: float, threads: int) -> MemoryLine:
    """Our solver alone on family D."""
    problems = [instance.packed for instance in family("D", seeds)]
    outcome = run_solver(OURS, problems, seconds, threads=threads)
    solved = sum(result.proven for result in outcome.results)
    return MemoryLine(outcome.peak_bytes, solved, len(problems))


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

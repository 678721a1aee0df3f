"""The sweep section: rows per second of a whole run, and whether cost grows with rows alone."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from memaudit.experiments.engines.local import Processes
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.summary import summarise
from memaudit.experiments.sweep import run
from memaudit.generators.registry import PUBLISHED

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

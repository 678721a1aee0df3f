"""The process that one solver runs in: a job in through stdin, messages out through stdout.

Solvers live apart because some cannot share a process (highspy and ortools), because any may
crash, and because peak memory is then its own.
"""

import os
import pickle
import resource
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from time import perf_counter

from bench.model import PeerResult
from bench.peers import PEERS
from memaudit.solvers.packed import Packed

OURS = "memaudit"

WARM_UP_SECONDS = 5.0
"""No warm-up problem is worth more than that."""


@dataclass(frozen=True, slots=True)
class Job:
    """What one solver shall do: the warm-up problems untimed, then each problem in turn."""

    solver: str
    problems: tuple[Packed, ...]
    warm_up: tuple[Packed, ...]
    seconds: float
    repeats: int
    batch: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """Imports and warm-up are over, after this many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Done:
    """Everything is solved; the most memory the process ever held."""

    peak_bytes: int


def perform(job: Job) -> Iterator[Ready | PeerResult | Done]:
    """The job's messages, in order."""
    start = perf_counter()
    if job.solver == OURS:
        # Imported here: no peer's process should load our compiled code.
        ours = import_module("bench.ours")
        one: Callable[[Packed, float], PeerResult] = ours.solve_one
    else:
        one = PEERS[job.solver]
    for packed in job.warm_up:
        one(packed, min(job.seconds, WARM_UP_SECONDS))
    if job.solver == OURS and job.batch:
        ours.solve_many(job.warm_up, job.seconds)
    yield Ready(perf_counter() - start)
    if job.solver == OURS and job.batch:
        runs = [ours.solve_many(job.problems, job.seconds) for _ in range(job.repeats)]
        yield from (typical(results) for results in zip(*runs, strict=True))
    else:
        for packed in job.problems:
            yield typical([one(packed, job.seconds) for _ in range(job.repeats)])
    yield Done(_peak_bytes())


def typical(runs: Sequence[PeerResult]) -> PeerResult:
    """One result for repeated runs: median times, and proven only if every run was."""
    worst = min(runs, key=lambda run: run.proven)
    return replace(
        worst,
        build_seconds=statistics.median(run.build_seconds for run in runs),
        solve_seconds=statistics.median(run.solve_seconds for run in runs),
    )


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    """Read the job, send its messages; whatever a solver prints goes to stderr."""
    job: Job = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        for message in perform(job):
            pickle.dump(message, out)
            out.flush()


if __name__ == "__main__":
    # Messages must carry the importable classes, not __main__'s copies of them.
    import_module("bench.worker").main()

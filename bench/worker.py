"""The process that one solver runs in: a job in through stdin, messages out through stdout.

Each solver has a process of its own because some cannot share one (highspy and ortools), because
any may crash, and because peak memory is then its own. Our solver gets the same problems, limits
and exact check as its peers.
"""

import os
import pickle
import resource
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from time import perf_counter

from bench.model import TIME_LIMIT, PeerResult, evaluate, feasible
from bench.peers import PEERS
from memaudit.kernel.parent_watch import end_with_parent
from memaudit.kernel.solvers.fast import solve_batch, solve_packed
from memaudit.kernel.solvers.packed import Packed
from memaudit.kernel.solvers.protocol import Limits

OURS = "memaudit"

WARM_UP_SECONDS = 5.0
"""No warm-up problem is worth more than that."""
LONG = 1.0
"""Seconds after which a problem is not solved again."""


@dataclass(frozen=True, slots=True)
class Job:
    """What one solver is to do: the warm-up problems untimed, then each problem in turn."""

    solver: str
    problems: tuple[Packed, ...]
    warm_up: tuple[Packed, ...]
    seconds: float
    repeats: int
    batch: bool
    threads: int


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
    solve: Callable[[Packed, float, int], PeerResult] = (
        solve_one if job.solver == OURS else PEERS[job.solver]
    )
    for packed in job.warm_up:
        solve(packed, min(job.seconds, WARM_UP_SECONDS), job.threads)
    if job.solver == OURS and job.batch:
        solve_many(job.warm_up, job.seconds, job.threads)
    yield Ready(perf_counter() - start)
    if job.solver == OURS and job.batch:
        runs = [solve_many(job.problems, job.seconds, job.threads) for _ in range(job.repeats)]
        yield from (typical(results) for results in zip(*runs, strict=True))
    else:
        for packed in job.problems:
            results = [solve(packed, job.seconds, job.threads)]
            while len(results) < job.repeats and results[-1].seconds < LONG:
                results.append(solve(packed, job.seconds, job.threads))
            yield typical(results)
    yield Done(peak_bytes())


def typical(runs: Sequence[PeerResult]) -> PeerResult:
    """One result for repeated runs: median times, and proven only if every run was."""
    worst = min(runs, key=lambda run: run.proven)
    return replace(
        worst,
        build_seconds=statistics.median(run.build_seconds for run in runs),
        solve_seconds=statistics.median(run.solve_seconds for run in runs),
    )


def peak_bytes() -> int:
    """The most memory that this process ever held."""
    status = Path("/proc/self/status")
    if status.is_file():  # getrusage counts the parent's memory until the child replaced it
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


Answer = tuple[int, tuple[int, ...], bool, int]
"""Value, chosen candidates, whether it is proven optimal, upper bound."""


def solve_one(packed: Packed, seconds: float, threads: int) -> PeerResult:
    """One problem on its own."""
    start = perf_counter()
    answer = solve_packed(packed, Limits(seconds=seconds, threads=threads))
    return checked(packed, answer, perf_counter() - start)


def solve_many(batch: Sequence[Packed], seconds: float, threads: int) -> list[PeerResult]:
    """A whole batch in one call; each problem's time is its equal part of the batch's."""
    start = perf_counter()
    answers = solve_batch(list(batch), Limits(seconds=seconds * len(batch), threads=threads))
    each = (perf_counter() - start) / len(batch)
    return [checked(packed, answer, each) for packed, answer in zip(batch, answers, strict=True)]


def checked(packed: Packed, answer: Answer, seconds: float) -> PeerResult:
    """The answer with its store valued again; a store that does not hold proves nothing."""
    claimed, chosen, closed, bound = answer
    chosen = tuple(int(candidate) for candidate in chosen)
    value = evaluate(packed, chosen)
    note = "" if closed else TIME_LIMIT
    if not feasible(packed, chosen):
        value, chosen, note = 0, (), "gave an infeasible store"
    elif value != claimed:
        note = f"claimed {claimed} for a store worth {value}"
    elif closed and bound != value:
        note = f"closed with the bound {bound} above {value}"
    return PeerResult(value, not note, 0.0, seconds, chosen, note)


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
    end_with_parent(int(sys.argv[1]))
    import_module("bench.worker").main()

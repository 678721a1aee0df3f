"""Starts a solver's process and collects its answers, whatever happens to it."""

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any

from bench.families import warm_up
from bench.model import PeerResult
from bench.peers import THREADS, missing
from bench.worker import OURS, Done, Job, Ready
from memaudit.kernel.solvers.packed import Packed

WORKER = "bench.worker"

PATIENCE = 240.0
"""Seconds a process may overrun its limits before it is ended, compilation included."""

MOST_CRASHES = 3
"""After this many, a solver is not started again: the rest counts as unsolved."""


@dataclass(slots=True)
class Outcome:
    """A solver's results, in the order of the problems, and what its process needed."""

    results: list[PeerResult] = field(default_factory=list)
    warm_up_seconds: float = 0.0
    peak_bytes: int = 0
    missing: str = ""


def run_solver(
    solver: str,
    problems: Sequence[Packed],
    seconds: float,
    *,
    repeats: int = 1,
    batch: bool = False,
    threads: int = THREADS,
) -> Outcome:
    """Solve all problems in a process of their own; after a crash, continue with the next one."""
    outcome = Outcome()
    if solver != OURS and (reason := missing(solver)):
        outcome.missing = reason
        return outcome
    warm = tuple(instance.packed for instance in warm_up())
    job = Job(solver, tuple(problems), warm, seconds, repeats, batch, threads)
    for _ in range(MOST_CRASHES):
        left = tuple(problems[len(outcome.results) :])
        reason = _collect(replace(job, problems=left), outcome)
        if not reason:
            return outcome
        outcome.results.append(_unsolved(reason))
    rest = len(problems) - len(outcome.results)
    outcome.results += [_unsolved(f"not tried after: {reason}")] * rest
    return outcome


def _unsolved(reason: str) -> PeerResult:
    return PeerResult(0, False, 0.0, 0.0, (), reason)


def _collect(job: Job, outcome: Outcome) -> str:
    """Run one process into `outcome`; returns why it ended early, or an empty string."""
    at_once = len(job.problems) if job.batch and job.solver == OURS else 1
    allowed = job.seconds * max(job.repeats * at_once, len(job.warm_up)) + PATIENCE
    with tempfile.TemporaryFile() as noise:
        process = subprocess.Popen(
            [sys.executable, "-m", WORKER, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=noise,
            start_new_session=True,
        )
        try:
            finished = _listen(process, job, outcome, allowed)
            return "" if finished else _reason(process, noise, allowed)
        finally:
            _end(process)


def _listen(process: subprocess.Popen[bytes], job: Job, outcome: Outcome, allowed: float) -> bool:
    """Take messages until the process is done; False if it ended early or fell silent."""
    messages: queue.Queue[Any] = queue.Queue()
    assert process.stdin is not None
    assert process.stdout is not None
    threading.Thread(target=_read, args=(process.stdout, messages), daemon=True).start()
    try:
        pickle.dump(job, process.stdin)
        process.stdin.close()
    except BrokenPipeError:
        return False
    while True:
        try:
            message = messages.get(timeout=allowed)
        except queue.Empty:
            return False
        if isinstance(message, Ready):
            outcome.warm_up_seconds = message.seconds
        elif isinstance(message, PeerResult):
            outcome.results.append(message)
        elif isinstance(message, Done):
            outcome.peak_bytes = max(outcome.peak_bytes, message.peak_bytes)
            return True
        else:
            return False


def _read(pipe: IO[bytes], messages: "queue.Queue[Any]") -> None:
    """Move the process's messages into the queue; None at their end."""
    while True:
        try:
            messages.put(pickle.load(pipe))
        except (EOFError, pickle.UnpicklingError):
            messages.put(None)
            return


def _reason(process: subprocess.Popen[bytes], noise: IO[bytes], allowed: float) -> str:
    """Why a process gave no further answer."""
    try:
        code = process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return f"silent for {allowed:.0f} s, beyond its time limit"
    noise.seek(0)
    lines = noise.read().decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"crashed ({how}) {last[:200]}".rstrip()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and what it started."""
    if process.poll() is None:
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.stdout:
        process.stdout.close()

"""The scale section: how time, memory and certificates grow with the number of candidates.

Every size is a generated union of labelled density with more sessions, solved in a process of its
own: `python -m bench.scale CANDIDATES SECONDS THREADS PARENT` prints its line as JSON.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import fsum, log
from statistics import fmean
from time import perf_counter

from bench.families import DEFAULT_SEEDS, warm_up
from bench.instance import Instance, as_package
from bench.unions import LABELLED, PER_SESSION, STYLES, union
from bench.worker import peak_bytes
from memaudit.kernel.checker import verify
from memaudit.kernel.parent_watch import end_with_parent
from memaudit.kernel.solvers.solve import solve

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
BUDGET_PER_CANDIDATE = 0.5
PATIENCE = 600.0
"""Seconds a process may take besides solving: to draw the problem and to check the certificate."""


@dataclass(frozen=True, slots=True)
class ScaleLine:
    """One size. `base_bytes` is what the process held before it drew the problem."""

    candidates: int
    cells: int = 0
    budget: int = 0
    seconds: float = 0.0
    base_bytes: int = 0
    peak_bytes: int = 0
    json_bytes: int = 0
    check_seconds: float = 0.0
    certified: bool = False
    value: float = 0.0
    bound: float = 0.0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Exponents:
    """By which power of the number of candidates time and memory grow; None where unknown."""

    time: float | None
    memory: float | None


def scale_lines(seconds: float, threads: int, sizes: Sequence[int] = SIZES) -> list[ScaleLine]:
    """Every size in a process of its own."""
    return [_line(size, seconds, threads) for size in sizes]


def _line(size: int, seconds: float, threads: int) -> ScaleLine:
    allowed = seconds + PATIENCE
    command = [sys.executable, "-m", "bench.scale", str(size), str(seconds), str(threads)]
    command.append(str(os.getpid()))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=allowed)
    except subprocess.TimeoutExpired:
        return ScaleLine(size, note=f"not finished within {allowed:.0f} s")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return ScaleLine(size, note=f"crashed (exit code {done.returncode}) {last[:200]}".rstrip())
    return ScaleLine(**json.loads(done.stdout.splitlines()[-1]))


def exponents(lines: Sequence[ScaleLine]) -> Exponents:
    """Over the certified sizes; memory is what a process needed beyond its base."""
    certified = [line for line in lines if line.certified]
    return Exponents(
        slope([(line.candidates, line.seconds) for line in certified]),
        slope([(line.candidates, line.peak_bytes - line.base_bytes) for line in certified]),
    )


def slope(points: Sequence[tuple[float, float]]) -> float | None:
    """The b of y = a * x ** b by least squares of the logarithms."""
    logs = [(log(x), log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    mean_x, mean_y = (fmean(values) for values in zip(*logs, strict=True))
    rise = fsum((x - mean_x) * (y - mean_y) for x, y in logs)
    return rise / fsum((x - mean_x) ** 2 for x, _ in logs)


def measure(size: int, seconds: float, threads: int) -> ScaleLine:
    """Draw, solve and check one size in this process."""
    for instance in warm_up():
        solve(as_package(instance), instance.packed.budget, seconds=seconds, threads=threads)
    base = peak_bytes()
    draft = union(DEFAULT_SEEDS["R"][0], LABELLED, max(1, round(size / PER_SESSION)), len(STYLES))
    budget = round(size * BUDGET_PER_CANDIDATE)
    drawn = Instance(f"{size} candidates", draft.packed(budget))
    package = as_package(drawn)
    start = perf_counter()
    optimum = solve(package, budget, seconds=seconds, check=False, threads=threads)
    solved = perf_counter()
    certified, note, length = False, optimum.note, 0
    if optimum.certificate is not None:
        verdict = verify(package, optimum.certificate)
        certified, note = verdict.valid, verdict.reason
        length = len(json.dumps(optimum.certificate.to_json(), separators=(",", ":")))
    checked = perf_counter()
    return ScaleLine(
        candidates=len(package.candidates),
        cells=len(package.coverage),
        budget=budget,
        seconds=solved - start,
        base_bytes=base,
        peak_bytes=peak_bytes(),
        json_bytes=length,
        check_seconds=checked - solved if length else 0.0,
        certified=certified,
        value=float(optimum.value),
        bound=float(optimum.value if certified else optimum.bound),
        note=note,
    )


if __name__ == "__main__":
    end_with_parent(int(sys.argv[4]))
    line = measure(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps(asdict(line)) + "\n")

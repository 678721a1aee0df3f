"""The further sections: frontier, certificates and memory, each of them on its own."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from time import perf_counter

from bench.draft import Instance
from bench.families import C_BUDGETS, family, warm_up
from bench.launch import run_solver
from bench.model import PeerResult
from bench.package import as_package
from bench.worker import OURS
from memaudit.checker import verify
from memaudit.core.errors import MemAuditError
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
    """The most memory our solver's process held; 0 where it did not live to tell."""

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
                "memories that span sessions keep it from falling apart, so budgets are solved "
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

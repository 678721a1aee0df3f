"""Rows made again from nothing: package, optimum, proof, store, numbers. Engines run this."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from memaudit.core.package import Package
from memaudit.experiments.evaluate import Subject, evaluate
from memaudit.experiments.solver_audit import Row as Task
from memaudit.generators.registry import named_distribution
from memaudit.natural.named_packages import natural_set
from memaudit.reproduce.folder import SENSITIVITY
from memaudit.reproduce.natural_results import NAME
from memaudit.reproduce.sensitivity_results import sensitivity_rows
from memaudit.reproduce.solver_results import audited
from memaudit.reproduce.verify.rows import Runs
from memaudit.solvers import registry
from memaudit.writers.registry import named_writer

SLOW = "brute"
"""The backend that looks at every store."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A part, one of its packages, and which of the package's rows are wanted.

    In the solver audit a package has one row, and `task` says what it is about; `slow` asks for
    the slow backend as well. Nothing here comes from a row that is to be checked.
    """

    part: str
    package: int
    rows: tuple[int, ...]
    task: Task | None = None
    slow: bool = False


@dataclass(slots=True)
class Made:
    """The rows that were asked for, how many proofs were looked at, and those that do not hold."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    proofs: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


def make_again(runs: Runs, asked: Sequence[Asked]) -> list[Made]:
    """What an engine runs, maybe in another process."""
    import memaudit.solvers.compiled.batch  # noqa: F401 - as in the runs: the compiled small search

    return [_made(runs, one) for one in asked]


def _made(runs: Runs, asked: Asked) -> Made:
    if asked.task is not None:
        backends = [name for name in sorted(registry.SOLVERS) if asked.slow or name != SLOW]
        return Made([audited(tuple(backends), asked.task)])  # the yardstick certifies itself
    if asked.part == SENSITIVITY:
        rows = list(sensitivity_rows(natural_set()[asked.package], asked.package))
        return Made([rows[place] for place in asked.rows], len(asked.rows))
    return _run_rows(runs, asked)


def _run_rows(runs: Runs, asked: Asked) -> Made:
    """Writers' rows, and every proof they rest on: it must hold, whatever its hash."""
    spec, budgets = runs[asked.part]
    name, seed = spec.package_at(asked.package)
    subject = _subject(name, seed if name == NAME or named_distribution(name).draws else 0)
    made = Made()
    proven = set()
    for place in asked.rows:
        at, writer = divmod(place, len(spec.writers))
        if at not in proven:
            proven.add(at)
            made.proofs += 1
            if wrong := _unproven(subject, budgets[at][1]):
                made.refused.append((f"{subject.package.name} at budget {budgets[at][1]}", wrong))
        (row,) = evaluate(subject, name, seed, [budgets[at]], [named_writer(spec.writers[writer])])
        made.rows.append(row.to_json())
    return made


def _unproven(subject: Subject, budget: Fraction) -> str:
    optimum = subject.oracle.optimum(budget)
    if optimum.certificate is None:
        return "the optimum has no certificate"
    verdict = subject.oracle.solver.checker.verify(optimum.certificate)
    return "" if verdict.valid else f"the certificate is refused: {verdict.reason}"


@lru_cache(maxsize=8)
def _subject(name: str, seed: int) -> Subject:
    return Subject(_package(name, seed))


def _package(name: str, seed: int) -> Package:
    return natural_set()[seed] if name == NAME else named_distribution(name).package(seed)

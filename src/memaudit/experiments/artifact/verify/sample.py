"""A sample of rows, made again from nothing: package, optimum, proof, store, numbers."""

import json
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from memaudit.core.exact import exact
from memaudit.core.package import Package
from memaudit.experiments.artifact.layout import ROWS, SENSITIVITY, SOLVERS
from memaudit.experiments.artifact.natural_results import NAME
from memaudit.experiments.artifact.sensitivity import sensitivity_rows
from memaudit.experiments.artifact.solver_audit import audited
from memaudit.experiments.artifact.verify.report import Report
from memaudit.experiments.artifact.verify.rows import Rows
from memaudit.experiments.evaluate import Subject, evaluate
from memaudit.generators.registry import named_distribution
from memaudit.natural.example import natural_set
from memaudit.writers.registry import named_writer

Row = Mapping[str, Any]


def check_sample(rows: Mapping[str, Rows], size: int, seed: int, report: Report) -> None:
    """Draw rows, the same share from each file, and compare them with what comes out now."""
    import memaudit.solvers.compiled.batch  # noqa: F401 - as in the runs: the compiled small search

    for place, (part, found) in enumerate(sorted(rows.items())):
        share = (size + place) // len(rows)  # shares differ by one where they must
        drawn = random.Random(f"{seed} {part}").sample(range(len(found)), min(share, len(found)))
        again = AGAIN.get(part, run_row)
        for line in sorted(drawn):
            report.checked["rows made again"] += 1
            _compare(f"{part}/{ROWS}, line {line + 1}", found[line], again, report)


def _compare(where: str, row: Row, again: Callable[[Row, Report], Row], report: Report) -> None:
    expected = json.loads(json.dumps(again(row, report)))
    for name in sorted(row.keys() | expected.keys()):
        if name != "version":  # of the program that wrote the row
            report.same(where, name, row.get(name), expected.get(name))


def run_row(row: Row, report: Report) -> Row:
    """A writer's row: the package from its seed, the optimum with its proof, the writer's store."""
    name, seed = row["distribution"], row["seed"]
    subject = _subject(name, seed if name == NAME or named_distribution(name).draws else 0)
    budget = exact(row["budget"])
    given = row.get("budget_as_given", str(row["budget"]))
    _prove(subject, budget, report)
    (made,) = evaluate(subject, name, seed, [(given, budget)], [named_writer(row["writer"])])
    return made.to_json()


def _prove(subject: Subject, budget: Fraction, report: Report) -> None:
    """The certificate of the optimum holds, whatever its hash."""
    optimum = subject.oracle.optimum(budget)
    report.checked["certificates verified"] += 1
    where = f"{subject.package.name} at budget {budget}"
    if optimum.certificate is None:
        report.problem(where, "the optimum has no certificate")
    elif not (verdict := subject.oracle.solver.checker.verify(optimum.certificate)).valid:
        report.problem(where, f"the certificate is refused: {verdict.reason}")


@lru_cache(maxsize=8)
def _subject(name: str, seed: int) -> Subject:
    return Subject(_package(name, seed))


def _package(name: str, seed: int) -> Package:
    return natural_set()[seed] if name == NAME else named_distribution(name).package(seed)


def variant_row(row: Row, report: Report) -> Row:
    """The optimum of a package of the natural set under other constraints."""
    asked = (row["budget"], row["cost_rule"], row["group_cap"])
    report.checked["certificates verified"] += 1
    (made,) = (
        one
        for one in _variants(row["place"])
        if (one["budget"], one["cost_rule"], one["group_cap"]) == asked
    )
    return made


@lru_cache(maxsize=32)
def _variants(place: int) -> list[dict[str, Any]]:
    return list(sensitivity_rows(natural_set()[place], place))


def solver_row(row: Row, report: Report) -> Row:  # noqa: ARG001 - the yardstick certifies itself
    """A package of the solver audit, by every backend."""
    task = row["distribution"], row["seed"], tuple(row["budgets"])
    return audited(tuple(row["solvers"]), task)


AGAIN: Mapping[str, Callable[[Row, Report], Row]] = {
    SOLVERS: solver_row,
    SENSITIVITY: variant_row,
}
"""How rows of a part are made again; other parts hold rows of writers."""

"""Rows of the solver audit and of the sensitivity part: in order, adding up to their tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from memaudit.experiments.solver_audit import audit_rows
from memaudit.io.journal import read_journal
from memaudit.reproduce import sensitivity_results, solver_results
from memaudit.reproduce.folder import ROWS, SENSITIVITY, SOLVERS, SUMMARY
from memaudit.reproduce.journaled import Key
from memaudit.reproduce.natural_results import BUDGETS
from memaudit.reproduce.settings import Settings
from memaudit.reproduce.verify.other_shapes import SolverRow, VariantRow, misshapen
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.rows import Rows, read_text

Summary = Callable[[Iterable[dict[str, Any]]], str]
Shape = type[SolverRow] | type[VariantRow]


def check_other_rows(folder: Path, settings: Settings, report: Report) -> dict[str, Rows]:
    """Check both parts; rows without a problem come back, to be made again."""
    solvers = ((name, seed, list(budgets)) for name, seed, budgets in audit_rows(settings.rows))
    variants = (
        (place, int(budget), *variant)
        for place in range(settings.packages)
        for variant in sensitivity_results.VARIANTS
        for budget in BUDGETS
    )
    parts: dict[str, tuple[Sequence[str], Iterator[Key], Summary, Shape]] = {
        SOLVERS: (solver_results.FIELDS, solvers, solver_results.summary_text, SolverRow),
        SENSITIVITY: (
            sensitivity_results.FIELDS,
            variants,
            sensitivity_results.summary_text,
            VariantRow,
        ),
    }
    good = {}
    for part, (fields, keys, summary, shape) in parts.items():
        before = len(report.problems)
        with report.reading(f"{part}/{ROWS}"):
            rows = list(read_journal(folder / part / ROWS))
            report.checked["rows"] += len(rows)
            found = [tuple(row.get(name) for name in fields) for row in rows]
            if found != list(islice(keys, len(rows) + 1)):
                report.problem(f"{part}/{ROWS}", "its rows are not the ones that were asked for")
            for line, row in enumerate(rows, 1):
                if problem := misshapen(shape, row):
                    report.problem(f"{part}/{ROWS}, line {line}", problem)
            if len(report.problems) > before:
                continue
            if read_text(folder / part / SUMMARY) != summary(rows):
                report.problem(f"{part}/{SUMMARY}", "does not follow from the rows")
            if len(report.problems) == before:
                good[part] = rows
    return good

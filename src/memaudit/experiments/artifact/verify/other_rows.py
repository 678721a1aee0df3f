"""Rows of the solver audit and of the sensitivity part: in order, adding up to their tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from memaudit.experiments.artifact import sensitivity, solver_audit
from memaudit.experiments.artifact.journaled import Key
from memaudit.experiments.artifact.layout import ROWS, SENSITIVITY, SOLVERS, SUMMARY
from memaudit.experiments.artifact.natural_results import BUDGETS
from memaudit.experiments.artifact.settings import Settings
from memaudit.experiments.artifact.verify.other_shapes import SolverRow, VariantRow, misshapen
from memaudit.experiments.artifact.verify.report import Report
from memaudit.experiments.artifact.verify.rows import Rows, read_text
from memaudit.experiments.audit_solvers import audit_rows
from memaudit.io.journal import read_journal

Summary = Callable[[Iterable[dict[str, Any]]], str]
Shape = type[SolverRow] | type[VariantRow]


def check_other_rows(folder: Path, settings: Settings, report: Report) -> dict[str, Rows]:
    """Check both parts; rows without a problem come back, to be made again."""
    solvers = ((name, seed, list(budgets)) for name, seed, budgets in audit_rows(settings.rows))
    variants = (
        (place, int(budget), *variant)
        for place in range(settings.packages)
        for variant in sensitivity.VARIANTS
        for budget in BUDGETS
    )
    parts: dict[str, tuple[Sequence[str], Iterator[Key], Summary, Shape]] = {
        SOLVERS: (solver_audit.FIELDS, solvers, solver_audit.summary_text, SolverRow),
        SENSITIVITY: (sensitivity.FIELDS, variants, sensitivity.summary_text, VariantRow),
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

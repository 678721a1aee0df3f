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
from memaudit.experiments.artifact.verify.report import Report
from memaudit.experiments.artifact.verify.rows import Rows, read_text
from memaudit.experiments.audit_solvers import audit_rows
from memaudit.io.journal import read_journal

Summary = Callable[[Iterable[dict[str, Any]]], str]


def check_other_rows(folder: Path, settings: Settings, report: Report) -> dict[str, Rows]:
    """Check both parts; rows without a problem come back, to be sampled from."""
    solvers = ((name, seed, list(budgets)) for name, seed, budgets in audit_rows(settings.rows))
    variants = (
        (place, int(budget), *variant)
        for place in range(settings.packages)
        for variant in sensitivity.VARIANTS
        for budget in BUDGETS
    )
    parts: dict[str, tuple[Sequence[str], Iterator[Key], Summary]] = {
        SOLVERS: (solver_audit.FIELDS, solvers, solver_audit.summary_text),
        SENSITIVITY: (sensitivity.FIELDS, variants, sensitivity.summary_text),
    }
    good = {}
    for part, (fields, keys, summary) in parts.items():
        before = len(report.problems)
        with report.reading(f"{part}/{ROWS}"):
            rows = list(read_journal(folder / part / ROWS))
            report.checked["rows"] += len(rows)
            found = [tuple(row.get(name) for name in fields) for row in rows]
            if found != list(islice(keys, len(rows) + 1)):
                report.problem(f"{part}/{ROWS}", "its rows are not the ones that were asked for")
            elif not _adds_up(folder / part / SUMMARY, rows, summary):
                report.problem(f"{part}/{SUMMARY}", "does not follow from the rows")
            if len(report.problems) == before:
                good[part] = rows
    return good


def _adds_up(path: Path, rows: Rows, summary: Summary) -> bool:
    """Whether the table is what the rows come to; rows that lack something come to nothing."""
    try:
        return read_text(path) == summary(rows)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False

"""Diagnoses stores of packages that are all at hand into a folder."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memaudit.audits.downstream.execute import Plan, Progress, Run, Work, execute
from memaudit.audits.downstream.holdings import memory_rows
from memaudit.audits.downstream.spec import Case, Setup, checked, spec_of
from memaudit.io.draft import lines


def run(
    cases: Sequence[Case],
    setup: Setup,
    folder: Path,
    settings: dict[str, Any],
    progress: Progress | None = None,
) -> Run:
    """Write all rows into a folder, or those that are missing, and the summary."""
    checked(cases)
    memories = lines([
        row for case in cases for holding in case.holdings
        for row in memory_rows(case.package.name, holding)
    ])  # fmt: skip
    spec = spec_of(cases, setup, hashlib.sha256(memories.encode()).hexdigest(), settings)
    keys = [
        (case.package.name, holding.name, query.id)
        for case in cases
        for holding in case.holdings
        for query in case.package.queries
    ]
    plan = Plan(spec, keys, lambda found: _left(cases, found), memories)
    return execute(plan, setup, folder, progress)


def _left(cases: Sequence[Case], found: int) -> Iterator[Work]:
    """Packages and holdings with rows to come, and how many of their rows are there."""
    for case in cases:
        for holding in case.holdings:
            there = min(found, len(case.package.queries))
            found -= there
            if there < len(case.package.queries):
                yield case.package, holding, there

"""Diagnoses stores into a folder, in one order, so that a killed run resumes."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.downstream.cases import Case
from memaudit.downstream.examine import Setup, findings, lean, reading_of, retrieve
from memaudit.downstream.holding import Holding
from memaudit.downstream.readers.protocol import State
from memaudit.downstream.stores import memory_rows
from memaudit.downstream.summary import summarise
from memaudit.io.atomic import write_file
from memaudit.io.journal import Journal, in_order, read_journal, to_line
from memaudit.io.run_folder import ROWS, claimed_by_spec
from memaudit.io.strict_json import json_lines

MEMORIES, SUMMARY = "memories.jsonl", "summary.json"
FORMAT, WHAT = "memaudit-diagnosis", "diagnosis"

Progress = Callable[[int], None]
Key = tuple[str, str, str]
"""Package, store and question of a row."""
Work = tuple[Package, Holding, int]
"""A package, what a store holds for it, and how many of its questions are done."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run: what decides the rows, their keys in order, and the work behind them."""

    spec: dict[str, Any]
    keys: Sequence[Key]
    work: Callable[[int], Iterator[Work]]
    """What is left after so many rows."""
    memories: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its summary, the rows found from before, bytes of rows made again."""

    summary: dict[str, Any]
    found: int
    cut: int


def execute(plan: Plan, setup: Setup, folder: Path, progress: Progress | None = None) -> Run:
    """Write all rows into a folder, or those that are missing, and the summary."""
    with claimed_by_spec(folder, FORMAT, WHAT, plan.spec, also=[MEMORIES]):
        if plan.memories is not None:
            write_file(folder / MEMORIES, plan.memories)
        found, cut = _journalled(plan, setup, folder, progress)
        summary = {"format": FORMAT, "version": 1, "spec": plan.spec,
                   **summarise(list(read_journal(folder / ROWS)), plan.spec["stores"])}  # fmt: skip
        write_file(folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=True) + "\n")
    return Run(summary, found, cut)


def _journalled(
    plan: Plan, setup: Setup, folder: Path, progress: Progress | None
) -> tuple[int, int]:
    """Rows found from before and bytes cut off; the others are appended."""
    of_place = in_order(("package", "store", "query"), len(plan.keys), plan.keys.__getitem__)

    def fits(place: int, row: dict[str, Any]) -> bool:
        """Whether the row stays; where a server failed, it is asked again."""
        return of_place(place, row) and row.get("reply") != State.NO_REPLY

    with Journal(folder / ROWS, fits) as journal:
        found = journal.rows
        if found < len(plan.keys):
            for some in _lines(plan.work(found), setup):
                journal.append(some)
                if progress:
                    progress(journal.rows)
        return found, journal.cut


def _lines(work: Iterator[Work], setup: Setup) -> Iterator[list[str]]:
    """Rows, a few at a time.

    A model is asked everything at once: one estimate, one batch; its replies are in the cache if
    the run is killed before the rows are written.
    """
    for chunk in [work] if setup.reader.asks_a_model else ([one] for one in work):
        ready = [
            lean(retrieve(package, holding, setup.retriever, setup.k, skip))
            for package, holding, skip in chunk
        ]
        replies = iter(setup.reader.read([asked for one in ready for asked in one.asked]))
        for one in ready:
            said = [next(replies) for _ in one.questions]
            yield [to_line(found.to_json()) for found in findings(one, said)]


def run(
    cases: Sequence[Case],
    setup: Setup,
    folder: Path,
    settings: dict[str, Any],
    progress: Progress | None = None,
) -> Run:
    """Write all rows into a folder, or those that are missing, and the summary."""
    checked(cases)
    memories = json_lines([
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


def checked(cases: Sequence[Case]) -> None:
    """An error where rows could not be told apart, or there would be none."""
    names = [case.package.name for case in cases]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MemAuditError(f"two packages are called {twice!r}; diagnose them one at a time")
    for case in cases:
        stores = [holding.name for holding in case.holdings]
        if len(set(stores)) < len(stores):
            raise MemAuditError("two stores have the same name; import one with another --name")
        if not stores:
            raise MemAuditError("there is no store to diagnose; give a STORE or a --writer")
    if not any(case.package.queries for case in cases):
        raise MemAuditError("no package has a question, so there is nothing to diagnose")


def spec_of(
    cases: Sequence[Case], setup: Setup, memories_sha256: str, settings: dict[str, Any]
) -> dict[str, Any]:
    """Everything that decides the rows. `settings` is what the caller says made the holdings."""
    return {
        **settings,
        "packages": {case.package.name: digest(case.package) for case in cases},
        "stores": [holding.name for holding in cases[0].holdings],
        "memories": memories_sha256,
        **reading_of(setup),
    }

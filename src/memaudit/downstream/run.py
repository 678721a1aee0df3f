"""A diagnosis in a folder: the questions of packages, through every store, retrieval and reading.

`spec.json` says what is run, `rows.jsonl` is the journal with one row per question and store,
`summary.json` comes last. A killed run resumes. A run whose stores are small also writes
`memories.jsonl`, every memory once. Rows hold the texts that they name either way.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.downstream.cases import DiagnosisCase, memory_rows
from memaudit.downstream.examine import (
    ReadingSetup,
    drop_unused_memories,
    question_results,
    reading_spec,
    retrieve,
)
from memaudit.downstream.kept_store import KeptStore
from memaudit.downstream.readers.protocol import ReplyState
from memaudit.downstream.summary import summarise
from memaudit.io.atomic import write_file
from memaudit.io.journal import Journal, read_journal, rows_in_order, to_line
from memaudit.io.run_folder import ROWS, claimed_by_spec
from memaudit.io.strict_json import json_lines

MEMORIES, SUMMARY = "memories.jsonl", "summary.json"
FORMAT, WHAT = "memaudit-diagnosis", "diagnosis"

Progress = Callable[[int], None]
RowKey = tuple[str, str, str]
"""Package, store and question of a row."""
PendingStore = tuple[Package, KeptStore, int]
"""A package, a store of it, and how many of its questions are done."""


@dataclass(frozen=True, slots=True)
class RowPlan:
    """What decides the rows, their keys in order, and the work behind them."""

    spec: dict[str, Any]
    keys: Sequence[RowKey]
    pending: Callable[[int], Iterator[PendingStore]]
    """What is left after so many rows."""
    memories: str | None = None


@dataclass(frozen=True, slots=True)
class FinishedDiagnosis:
    """The summary, how many rows already existed, and bytes of rows that were cut off."""

    summary: dict[str, Any]
    existing: int
    cut: int


def diagnose(
    cases: Sequence[DiagnosisCase],
    setup: ReadingSetup,
    folder: Path,
    settings: dict[str, Any],
    progress: Progress | None = None,
) -> FinishedDiagnosis:
    """Diagnose cases into a folder, or resume. `settings` says what made the stores."""
    check_cases(cases)
    memories = json_lines([
        row for case in cases for store in case.stores
        for row in memory_rows(case.package.name, store)
    ])  # fmt: skip
    spec = {
        **settings,
        "packages": {case.package.name: digest(case.package) for case in cases},
        "stores": [store.name for store in cases[0].stores],
        "memories": hashlib.sha256(memories.encode()).hexdigest(),
        **reading_spec(setup),
    }
    keys = [
        (case.package.name, store.name, query.id)
        for case in cases
        for store in case.stores
        for query in case.package.queries
    ]
    plan = RowPlan(spec, keys, lambda existing: _pending(cases, existing), memories)
    return run_plan(plan, setup, folder, progress)


def check_cases(cases: Sequence[DiagnosisCase]) -> None:
    """An error where rows could not be distinguished, or there would be none."""
    names = [case.package.name for case in cases]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MemAuditError(f"two packages are called {twice!r}; diagnose them one at a time")
    for case in cases:
        stores = [store.name for store in case.stores]
        if len(set(stores)) < len(stores):
            raise MemAuditError("two stores have the same name; import one with another --name")
        if not stores:
            raise MemAuditError("no store to diagnose; give a STORE or a --writer")
    if not any(case.package.queries for case in cases):
        raise MemAuditError("no package has a question, so there is nothing to diagnose")


def _pending(cases: Sequence[DiagnosisCase], existing: int) -> Iterator[PendingStore]:
    """Stores with rows to come, and how many of their rows already exist."""
    for case in cases:
        for store in case.stores:
            done = min(existing, len(case.package.queries))
            existing -= done
            if done < len(case.package.queries):
                yield case.package, store, done


def run_plan(
    plan: RowPlan, setup: ReadingSetup, folder: Path, progress: Progress | None = None
) -> FinishedDiagnosis:
    """Write all rows into a folder, or those that are missing, and the summary."""
    with claimed_by_spec(folder, FORMAT, WHAT, plan.spec, also=[MEMORIES]):
        if plan.memories is not None:
            write_file(folder / MEMORIES, plan.memories)
        existing, cut = _append_rows(plan, setup, folder, progress)
        summary = {"format": FORMAT, "version": 1, "spec": plan.spec,
                   **summarise(list(read_journal(folder / ROWS)), plan.spec["stores"])}  # fmt: skip
        write_file(folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=True) + "\n")
    return FinishedDiagnosis(summary, existing, cut)


def _append_rows(
    plan: RowPlan, setup: ReadingSetup, folder: Path, progress: Progress | None
) -> tuple[int, int]:
    """Append missing rows; how many already existed, and how many bytes were cut off."""
    is_due = rows_in_order(("package", "store", "query"), len(plan.keys), plan.keys.__getitem__)

    def fits(place: int, row: dict[str, Any]) -> bool:
        """Whether the row stays. Where a server failed, it is asked again."""
        return is_due(place, row) and row.get("reply") != ReplyState.NO_REPLY

    with Journal(folder / ROWS, fits) as journal:
        existing = journal.rows
        if existing < len(plan.keys):
            for lines in _lines(plan.pending(existing), setup):
                journal.append(lines)
                if progress:
                    progress(journal.rows)
        return existing, journal.cut


def _lines(pending: Iterator[PendingStore], setup: ReadingSetup) -> Iterator[list[str]]:
    """Rows, a few at a time.

    A model is asked everything at once: one estimate, one batch. Its replies are in the cache if
    the run is killed before the rows are written.
    """
    for chunk in [pending] if setup.reader.asks_a_model else ([store] for store in pending):
        retrieved = [
            drop_unused_memories(retrieve(package, store, setup.retriever, setup.k, skip))
            for package, store, skip in chunk
        ]
        replies = iter(setup.reader.read([task for some in retrieved for task in some.tasks]))
        for some in retrieved:
            own_replies = [next(replies) for _ in some.questions]
            yield [to_line(result.to_json()) for result in question_results(some, own_replies)]

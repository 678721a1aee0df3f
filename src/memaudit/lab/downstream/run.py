"""A diagnosis in a folder: the questions of packages, through every store, retrieval and reading.

`spec.json` says what is run, `rows.jsonl` is the journal with one row per question and store,
`summary.json` comes last. A killed run resumes. A run whose stores are small also writes
`memories.jsonl`, every memory once. Rows hold the texts that they name either way.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file, write_lines
from memaudit.kernel.io.strict_json import json_lines
from memaudit.lab.downstream.answer_readers import ReplyState
from memaudit.lab.downstream.ask_questions import (
    ReadingSetup,
    RetrievedQuestions,
    question_results,
    reading_spec,
    retrieve,
)
from memaudit.lab.downstream.diagnosis_files import StoreSummary
from memaudit.lab.downstream.outcomes import is_decided, summarise
from memaudit.lab.downstream.question import PackageQuestion, ServedStore
from memaudit.lab.downstream.store_cases import DiagnosisCase, memory_rows
from memaudit.workspace.journal import Journal, read_journal, rows_in_order, to_line
from memaudit.workspace.run_folder import ROWS, claimed_by_spec
from memaudit.workspace.task_journal import TaskRunner, one_by_one

MEMORIES, SUMMARY = "memories.jsonl", "summary.json"
FORMAT, WHAT = "memaudit-diagnosis", "diagnosis"

Progress = Callable[[int], None]
RowKey = tuple[str, str, str]
"""Package, store and question of a row."""


@dataclass(frozen=True, slots=True)
class PendingStore:
    """The questions of a package that are still to be asked of a store."""

    package: str
    questions: tuple[PackageQuestion, ...]
    store: ServedStore


@dataclass(frozen=True, slots=True)
class RowPlan:
    """What decides the rows, their keys in order, and the work behind them."""

    spec: dict[str, Any]
    keys: Sequence[RowKey]
    pending: Callable[[int], Iterator[PendingStore]]
    """What is left after so many rows."""
    memories: Iterable[str] | None = None
    """Lines of the file of memories, if there is one."""


@dataclass(frozen=True, slots=True)
class FinishedDiagnosis:
    """The summary, how many rows already existed, and bytes of rows that were cut off."""

    summary: dict[str, Any]
    existing: int
    cut: int

    @property
    def stores(self) -> list[StoreSummary]:
        """What became of the questions at each store, as the summary says."""
        return [StoreSummary.model_validate(store) for store in self.summary["summaries"]]


def diagnose(
    cases: Sequence[DiagnosisCase],
    setup: ReadingSetup,
    folder: Path,
    settings: dict[str, Any],
    progress: Progress | None = None,
    run: TaskRunner = one_by_one,
) -> FinishedDiagnosis:
    """Diagnose cases into a folder, or resume. `settings` says what made the stores."""
    packages: dict[str, str] = {}
    stores: list[str] = []
    keys: list[RowKey] = []
    memories = hashlib.sha256()
    for case in cases:
        check_case(case, packages)
        packages[case.package] = case.digest
        stores = stores or [store.name for store in case.stores]
        keys += _keys(case)
        # Part of the spec, so a resumed run with other texts under the same names is refused.
        for line in _memory_lines([case]):
            memories.update(line.encode())
    if not keys:
        raise MemAuditError("no package has a question, so there is nothing to diagnose")
    spec = {
        **settings,
        "packages": packages,
        "stores": stores,
        "memories": memories.hexdigest(),
        **reading_spec(setup),
    }
    plan = RowPlan(spec, keys, lambda existing: _pending(cases, existing), _memory_lines(cases))
    return run_plan(plan, setup, folder, progress, run)


def _keys(case: DiagnosisCase) -> list[RowKey]:
    return [
        (case.package, store.name, question.id)
        for store in case.stores
        for question in case.questions
    ]


def _memory_lines(cases: Iterable[DiagnosisCase]) -> Iterator[str]:
    for case in cases:
        for store in case.stores:
            yield json_lines(memory_rows(case.package, store))


def check_case(case: DiagnosisCase, others: Collection[str]) -> None:
    """An error where rows could not be distinguished, or there would be none."""
    if case.package in others:
        raise MemAuditError(
            f"two packages are called {case.package!r}; diagnose them one at a time"
        )
    stores = [store.name for store in case.stores]
    if len(set(stores)) < len(stores):
        raise MemAuditError("two stores have the same name; import one with another --name")
    if not stores:
        raise MemAuditError("no store to diagnose; give a STORE or a --writer")


def _pending(cases: Iterable[DiagnosisCase], existing: int) -> Iterator[PendingStore]:
    """Stores with rows to come."""
    for case in cases:
        for store in case.stores:
            done = min(existing, len(case.questions))
            # Rows are in the order of cases and stores, so a count says exactly which ones are
            # there.
            existing -= done
            if done < len(case.questions):
                yield PendingStore(case.package, case.questions[done:], store)


def run_plan(
    plan: RowPlan,
    setup: ReadingSetup,
    folder: Path,
    progress: Progress | None = None,
    run: TaskRunner = one_by_one,
) -> FinishedDiagnosis:
    """Write all rows into a folder, or those that are missing, and the summary."""
    with claimed_by_spec(folder, FORMAT, WHAT, plan.spec, also=[MEMORIES]):
        if plan.memories is not None:
            write_lines(folder / MEMORIES, plan.memories)
        existing, cut = _append_rows(plan, setup, folder, progress, run)
        # From the file and not from memory: a resumed run has rows that this process never made.
        rows = list(read_journal(folder / ROWS))
        summary = {
            "format": FORMAT,
            "version": 1,
            "spec": plan.spec,
            **summarise(rows, plan.spec["stores"]),
        }
        write_file(folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=True) + "\n")
    return FinishedDiagnosis(summary, existing, cut)


def _append_rows(
    plan: RowPlan, setup: ReadingSetup, folder: Path, progress: Progress | None, run: TaskRunner
) -> tuple[int, int]:
    """Append missing rows; how many already existed, and how many bytes were cut off."""
    is_due = rows_in_order(("package", "store", "query"), len(plan.keys), plan.keys.__getitem__)

    def fits(place: int, row: dict[str, Any]) -> bool:
        """Whether the row stays. Where a server failed, it is asked again."""
        # A failed call is a result of the network, not of the store: the row is written again.
        lost = row.get("reply") == ReplyState.NO_REPLY
        return is_due(place, row) and not lost and is_decided(row)

    with Journal(folder / ROWS, fits) as journal:
        existing = journal.rows
        if existing < len(plan.keys):
            for lines in _lines(plan.pending(existing), setup, run):
                journal.append(lines)
                if progress:
                    progress(journal.rows)
        return existing, journal.cut


def _lines(
    pending: Iterator[PendingStore], setup: ReadingSetup, run: TaskRunner
) -> Iterator[list[str]]:
    """Rows, a few at a time.

    A model is asked everything at once: one estimate, one batch. Its replies are in the cache if
    the run is killed before the rows are written.
    """
    if not setup.reader.asks_a_model:
        yield from run(partial(row_lines, setup), pending)
        return
    retrieved = [_retrieved(setup, store) for store in pending]
    tasks = [task for some in retrieved for task in some.tasks]
    replies = setup.reader.read(tasks)
    at = 0
    for some in retrieved:
        own = slice(at, at + len(some.questions))
        at = own.stop
        yield [to_line(it.to_json()) for it in question_results(some, replies[own])]


def row_lines(setup: ReadingSetup, pending: PendingStore) -> list[str]:
    """The rows of one store."""
    found = _retrieved(setup, pending)
    results = question_results(found, setup.reader.read(found.tasks))
    return [to_line(result.to_json()) for result in results]


def _retrieved(setup: ReadingSetup, pending: PendingStore) -> RetrievedQuestions:
    return retrieve(pending.package, pending.questions, pending.store, setup)

"""Package-style writing against three stores of raw turns, on annotated conversations.

A diagnostic, never a ratio to an optimum: a file of conversations has no finite set of candidates
with exact coverage. Coverage of a labelled turn by a raw turn is exact (it is that turn), that of a
package's other candidates follows the rules of the build. The three raw stores all write every
turn, word for word. They differ in what they keep.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from memaudit.building.annotations import build_package
from memaudit.building.build_folder import BuildJob, BuildPlan, plan_build
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.budgets import budget_cost, is_share, split_budgets
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import SUPERSESSION, Package
from memaudit.lab.downstream.ask_questions import ReadingSetup, reading_spec
from memaudit.lab.downstream.question import ServedStore, questions
from memaudit.lab.downstream.run import FinishedDiagnosis, PendingStore, Progress, RowPlan, run_plan
from memaudit.lab.downstream.store_cases import candidate_store, writer_store
from memaudit.lab.sweeps.writers.protocol import VisibleCandidate, Writer, visible, writer_seed
from memaudit.lab.sweeps.writers.references import ReservoirRaw

RAW = "raw"

Keep = Callable[[Package, Fraction, int], list[str]]


def raw_store(name: str, package: Package, budget: Fraction, seed: int) -> ServedStore:
    about, keep = RAW_STORES[name]
    written = tuple(turn.id for turn in _turns(package))
    everything = candidate_store(package, name, written, about)
    kept_ids = frozenset(keep(package, budget, writer_seed(seed, digest(package))))
    return replace(everything, kept_ids=kept_ids)


def raw_words(package: Package) -> Fraction:
    """The cost of keeping every turn."""
    return sum((turn.cost for turn in _turns(package)), Fraction(0))


def _turns(package: Package) -> list[VisibleCandidate]:
    """The raw candidates in order of arrival."""
    return [turn for turn in visible(package).candidates if turn.kind == RAW]


def _everything(package: Package, budget: Fraction, seed: int) -> list[str]:  # noqa: ARG001
    return [turn.id for turn in _turns(package)]


def _replay(package: Package, budget: Fraction, seed: int) -> list[str]:
    """Turns in a random order, each kept if it still fits."""
    return list(ReservoirRaw().write(visible(package), budget, seed))


def _fifo(package: Package, budget: Fraction, seed: int) -> list[str]:  # noqa: ARG001
    """A queue: a new turn pushes out the oldest until it fits. A turn over budget is skipped."""
    queue: deque[VisibleCandidate] = deque()
    left = budget
    for turn in _turns(package):
        if turn.cost > budget:
            continue
        # It ends: the turn is within the budget, so an emptied queue has room for it.
        while turn.cost > left:
            left += queue.popleft().cost
        queue.append(turn)
        left -= turn.cost
    return [turn.id for turn in queue]


RAW_STORES: dict[str, tuple[str, Keep]] = {
    "full_raw": ("every turn, whatever it costs", _everything),
    "raw_replay": ("turns in a seeded random order, what fits the budget", _replay),
    "fifo": ("first in, first out: the newest turns within the budget", _fifo),
}
"""Raw stores by name: how each is kept, and the rule."""


@dataclass(frozen=True)
class TransferRecords:
    """The records of a file, at most one of them in memory."""

    plan: BuildPlan

    @cached_property
    def questions(self) -> dict[str, tuple[str, ...]]:
        """By record, the ids of its questions, in the order of the file."""
        return {
            loaded.conversation.id: tuple(question.id for question in loaded.conversation.questions)
            for loaded in self.plan.loaded()
        }

    @property
    def asked(self) -> dict[str, tuple[str, ...]]:
        return {name: ids for name, ids in self.questions.items() if ids}

    @property
    def left_out(self) -> dict[str, str]:
        return {
            name: f"{name!r} has no question" for name, ids in self.questions.items() if not ids
        }

    def packages(self, names: set[str]) -> Iterator[Package]:
        """The packages of these records, with what labels alone say is required."""
        for loaded in self.plan.loaded():
            if loaded.conversation.id in names:
                yield labelled(build_package(loaded, self.plan.recipe).package)

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the packages."""
        job = self.plan.job
        return {
            "file": job.path.name,
            "sha256": self.plan.sha256,
            "format": self.plan.recipe.format,
            "cost_rule": self.plan.recipe.cost_rule,
            "subset": self.plan.subset.sha256 if self.plan.subset else None,
            "records": hashlib.sha256(repr(list(self.questions)).encode()).hexdigest(),
        }


def open_records(
    path: Path,
    subset: Path | None = None,
    conversations: tuple[str, ...] = (),
) -> TransferRecords:
    """The records of a file. A file without any question is an error."""
    records = TransferRecords(plan_build(BuildJob(path, None, subset, conversations)))
    if not records.asked:
        raise MemAuditError(f"{path.name}: has no question, so there is nothing to compare")
    return records


def labelled(package: Package) -> Package:
    """The package with queries that require labelled turns only.

    A build adds that an update ended the value before. No label says so, and hardly any raw turn
    does: requiring it would make raw stores fail by construction.
    """
    # Units that the build made; all other kinds come from labels.
    made = {unit.id for unit in package.units if unit.kind == SUPERSESSION}
    return package.replace(
        queries=tuple(
            query.model_copy(
                update={"required": tuple(id for id in query.required if id not in made)}
            )
            for query in package.queries
        )
    )


NOTE = (
    "a transfer diagnostic, never a ratio to an optimum: conversations have no finite set of "
    "candidates with exact coverage"
)
EVIDENCE = (
    "evidence is whole labelled turns: a piece of one covers a part of it, which evidence recall "
    "does not count and evidence coverage does"
)
OWN_WORDS = "of the words of a record's own turns"


@dataclass(frozen=True, slots=True)
class TransferStores:
    """The stores that are compared, and how much they may keep."""

    writers: Sequence[Writer]
    budget: str
    """A cost, or a share of what all turns of a record cost."""
    seed: int = 0

    def __post_init__(self) -> None:
        if len(split_budgets(self.budget)) != 1:
            raise MemAuditError("a transfer takes one budget; run it once per budget")
        names = [writer.name for writer in self.writers]
        if not names:
            raise MemAuditError("no package-style store to compare; give a --writer")
        if len(set(names)) < len(names):
            raise MemAuditError("a writer is given twice; give each once")

    @property
    def names(self) -> list[str]:
        """The names of the stores: package style first."""
        return [*(writer.name for writer in self.writers), *RAW_STORES]

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the stores of a package."""
        share = f" {OWN_WORDS}" if is_share(self.budget) else ""
        return {
            "note": NOTE,
            "evidence": EVIDENCE,
            "budget": f"{self.budget}{share}",
            "about_stores": {
                **{writer.name: f"package style: {writer.about}" for writer in self.writers},
                **{name: about for name, (about, _) in RAW_STORES.items()},
            },
            "peeking_writers": [writer.name for writer in self.writers if writer.peeks],
            "seed": self.seed,
        }

    def kept(self, package: Package) -> Iterator[ServedStore]:
        budget = budget_cost(self.budget, raw_words(package))
        for writer in self.writers:
            yield writer_store(package, writer, budget, self.seed)
        for name in RAW_STORES:
            yield raw_store(name, package, budget, self.seed)


def transfer(
    records: TransferRecords,
    stores: TransferStores,
    setup: ReadingSetup,
    folder: Path,
    progress: Progress | None = None,
) -> FinishedDiagnosis:
    """All rows of all records, or those that are missing, and the summary."""
    asked = records.asked
    keys = [
        (name, store, question)
        for name, questions in asked.items()
        for store in stores.names
        for question in questions
    ]
    spec = {
        **stores.settings,
        "source": records.identity,
        "left_out": records.left_out,
        "stores": stores.names,
        **reading_spec(setup),
    }
    plan = RowPlan(spec, keys, lambda existing: _pending(records, stores, asked, existing))
    return run_plan(plan, setup, folder, progress)


def _pending(
    records: TransferRecords,
    stores: TransferStores,
    asked: dict[str, tuple[str, ...]],
    existing: int,
) -> Iterator[PendingStore]:
    """Stores with rows to come. Records that are done are not built again."""
    done: dict[str, int] = {}
    for name, ids in asked.items():
        done[name] = min(existing, len(ids) * len(stores.names))
        existing -= done[name]
    missing = {name for name, rows in done.items() if rows < len(asked[name]) * len(stores.names)}
    for package in records.packages(missing):
        # Rows exist store by store: whole stores first, then part of one.
        rows = done[package.name]
        for store in stores.kept(package):
            skip = min(rows, len(package.queries))
            rows -= skip
            if skip < len(package.queries):
                yield PendingStore(package.name, questions(package)[skip:], store)

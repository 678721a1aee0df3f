"""The stores that are scored: fixed once, the same under every label set.

Writers decide on the package as it is, references that look at its hidden side by its own labels.
An exported store is kept whole where it fits the budget, else the newest memories that fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.errors import MemAuditError, MissingTool
from memaudit.label_audit.audited_package import AuditedPackage
from memaudit.scoring.pruning import keep_within
from memaudit.writers.registry import WRITERS, named_writer
from memaudit.writers.run_writer import WriterRunner

NEED_EXTRA = ("estimated_gvt_embedding", "estimated_greedy_embedding")
"""Writers that need an optional part: they run where they are asked for by name."""

DEFAULT_WRITERS = (
    "gvt",
    *(one.name for one in WRITERS.values() if not one.peeks and one.name not in NEED_EXTRA),
)
"""The reference and every writer that could be deployed."""

StoreAt = tuple[str, Fraction]
"""Whose store, at which budget."""


@dataclass(frozen=True, slots=True)
class FixedStores:
    """Stores by entry and budget; where a writer failed there is a reason instead."""

    stores: Mapping[StoreAt, tuple[str, ...]]
    failed: Mapping[StoreAt, str]


@dataclass(frozen=True, slots=True)
class StoreTask:
    """One package and who is to write for it."""

    case: AuditedPackage
    writers: tuple[str, ...]
    budgets: tuple[Fraction, ...]
    seed: int
    seconds: float | None = None


def store_names(cases: Sequence[AuditedPackage], writers: Sequence[str]) -> tuple[str, ...]:
    """Who is scored: writers, then exported stores, each name once."""
    stores = {store.name: None for case in cases for store in case.stores}
    if both := sorted(stores.keys() & set(writers)):
        raise MemAuditError(f"a store and a writer are called {both[0]!r}; rename the store")
    return (*dict.fromkeys(writers), *stores)


def fixed_stores(task: StoreTask) -> FixedStores:
    """What every writer and every exported store of a package keeps at every budget."""
    case, stores, failed = task.case, {}, {}
    runner = WriterRunner(case.package, task.seconds)
    for budget in task.budgets:
        for name in task.writers:
            try:
                stores[name, budget] = runner.written_by(named_writer(name), budget, task.seed)
            except MissingTool:
                raise
            except MemAuditError as error:
                failed[name, budget] = str(error)
        for store in case.stores:
            stores[store.name, budget] = keep_within(store, budget).ids
    return FixedStores(stores, failed)

"""The stores that are scored: fixed once, the same under every label set.

Writers see the package as it is; references that look at its hidden side see its own labels. An
exported store is kept whole if it fits the budget; otherwise the newest memories that fit are kept.
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
"""Writers that need an optional dependency: they run only if asked for by name."""

DEFAULT_WRITERS = (
    "gvt",
    *(
        writer.name
        for writer in WRITERS.values()
        if not writer.peeks and writer.name not in NEED_EXTRA
    ),
)
"""The reference and every writer that could be deployed."""

StoreKey = tuple[str, Fraction]
"""The name of a writer or store, and the budget."""


@dataclass(frozen=True, slots=True)
class FixedStores:
    """Stores by name and budget; if a writer failed, the reason instead."""

    stores: Mapping[StoreKey, tuple[str, ...]]
    failed: Mapping[StoreKey, str]


@dataclass(frozen=True, slots=True)
class StoreTask:
    """One package and the writers to run on it."""

    package: AuditedPackage
    writers: tuple[str, ...]
    budgets: tuple[Fraction, ...]
    seed: int
    seconds: float | None = None


def store_names(packages: Sequence[AuditedPackage], writers: Sequence[str]) -> tuple[str, ...]:
    """The stores that are scored: of writers, then exported ones, each name once."""
    stores = {store.name: None for audited in packages for store in audited.stores}
    if both := sorted(stores.keys() & set(writers)):
        raise MemAuditError(f"a store and a writer are called {both[0]!r}; rename the store")
    return (*dict.fromkeys(writers), *stores)


def fixed_stores(task: StoreTask) -> FixedStores:
    """What every writer and every exported store of a package keeps at every budget."""
    audited, stores, failed = task.package, {}, {}
    runner = WriterRunner(audited.package, task.seconds)
    for budget in task.budgets:
        for name in task.writers:
            try:
                written = runner.written_by(named_writer(name), budget, task.seed)
                stores[name, budget] = audited.union.candidates(written)
            except MissingTool:
                raise
            except MemAuditError as error:
                failed[name, budget] = str(error)
        for store in audited.stores:
            stores[store.name, budget] = audited.union.candidates(keep_within(store, budget).ids)
    return FixedStores(stores, failed)

"""The stores that are scored: fixed once, the same under every label set.

Writers decide on the package as it is, references that look at its hidden side by its own labels.
An exported store is kept whole where it fits the budget, else the newest memories that fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError, MissingTool
from memaudit.core.objective import violations
from memaudit.label_audit.audited_package import Case
from memaudit.scoring.pruning import pruned
from memaudit.writers.protocol import OracleView, View, Writer, own_seed, visible
from memaudit.writers.registry import WRITERS, named_writer

NEED_EXTRA = ("estimated_gvt_embedding", "estimated_greedy_embedding")
"""Writers that need an optional part: they run where they are asked for by name."""

DEFAULT_WRITERS = (
    "gvt",
    *(one.name for one in WRITERS.values() if not one.peeks and one.name not in NEED_EXTRA),
)
"""The reference and every writer that could be deployed."""

At = tuple[str, Fraction]
"""Whose store, at which budget."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Stores by entry and budget; where a writer failed there is a reason instead."""

    stores: Mapping[At, tuple[str, ...]]
    failed: Mapping[At, str]


@dataclass(frozen=True, slots=True)
class Writing:
    """One package and who is to write for it."""

    case: Case
    writers: tuple[str, ...]
    budgets: tuple[Fraction, ...]
    seed: int
    seconds: float | None = None


def entries(cases: Sequence[Case], writers: Sequence[str]) -> tuple[str, ...]:
    """Who is scored: writers, then exported stores, each name once."""
    stores = {store.name: None for case in cases for store in case.stores}
    if both := sorted(stores.keys() & set(writers)):
        raise MemAuditError(f"a store and a writer are called {both[0]!r}; rename the store")
    return (*dict.fromkeys(writers), *stores)


def kept(task: Writing) -> Kept:
    """What every writer and every exported store of a package keeps at every budget."""
    case, stores, failed = task.case, {}, {}
    oracle, view = OracleView(case.package, task.seconds), visible(case.package)
    seed = own_seed(task.seed, digest(case.package))
    for budget in task.budgets:
        for name in task.writers:
            try:
                stores[name, budget] = _written(named_writer(name), oracle, view, budget, seed)
            except MissingTool:
                raise
            except MemAuditError as error:
                failed[name, budget] = str(error)
        for store in case.stores:
            whole = store.cost <= budget
            stores[store.name, budget] = (
                store.candidate_ids if whole else pruned(store, budget, "recency") or ()
            )
    return Kept(stores, failed)


def _written(
    writer: Writer, oracle: OracleView, view: View, budget: Fraction, seed: int
) -> tuple[str, ...]:
    """A writer's store; one that breaks the rules is the writer's failure."""
    store = writer.write(oracle, budget, seed) if writer.peeks else writer.write(view, budget, seed)
    package = oracle.package
    if problems := violations(package, store, budget, package.group_cap):
        raise MemAuditError(f"writer {writer.name!r} broke the rules: {problems[0]}")
    return store

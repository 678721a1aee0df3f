"""What a store is worth within a budget: what it keeps, and the best it could keep.

Both are over OPT of the common union: rankings need one denominator for all systems.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.exported import ExportAudit
from memaudit.audits.pruning import pruned
from memaudit.audits.ratio import Basis, Ratio
from memaudit.audits.union import WrittenStore
from memaudit.core.optimum import Optimum
from memaudit.core.package import Package

BASIS: Basis = "common union"
FITS = "everything fits"
RECENCY = "cut by recency"


@dataclass(frozen=True, slots=True)
class Measured:
    """One store at one budget: ratios of what it keeps and of the best it could keep.

    None is undefined: an optimum is 0 or not certified. Proofs are not kept, many rows are.
    """

    store: str
    budget: Fraction
    kept_by: str
    kept: Fraction | None
    upper: Fraction | None
    uncertified: int


def measured(
    package: Package,
    stores: Sequence[WrittenStore],
    budgets: Sequence[Fraction],
    group_cap: int | None = None,
    seconds: float | None = None,
) -> list[Measured]:
    """Every store at every budget. A store that fits is kept whole, else the newest that fit."""
    audit = ExportAudit(package, stores, group_cap, seconds)
    return [_one(audit, store, budget) for budget in budgets for store in audit.stores]


def _one(audit: ExportAudit, store: WrittenStore, budget: Fraction) -> Measured:
    fits = store.cost <= budget
    kept = store.candidate_ids if fits else pruned(store, budget, "recency") or ()
    value = audit.scorer.score(kept).value
    common, upper = audit.common_optimum(budget), audit.upper_optimum(store, budget)
    return row(store.name, budget, FITS if fits else RECENCY, value, common, upper)


def row(
    store: str, budget: Fraction, kept_by: str, value: Fraction, common: Optimum, upper: Optimum
) -> Measured:
    """The ratios of a kept value and of an upper bound, as far as optima are proven."""
    return Measured(
        store=store,
        budget=budget,
        kept_by=kept_by,
        kept=Ratio(value, common, BASIS).value,
        upper=Ratio(upper.value, common, BASIS).value if upper.certified else None,
        uncertified=sum(not one.certified for one in (common, upper)),
    )

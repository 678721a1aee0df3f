"""What a store is worth within a budget: what it keeps, and the best it could keep."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.exported import ExportAudit
from memaudit.audits.pruning import pruned
from memaudit.audits.ratio import Ratio
from memaudit.audits.union import WrittenStore
from memaudit.core.optimum import Optimum
from memaudit.core.package import Package

FITS = "everything fits"
RECENCY = "cut by recency"


@dataclass(frozen=True, slots=True)
class Measured:
    """One store at one budget: its union ratios, and the optima behind them."""

    store: str
    budget: Fraction
    kept_by: str
    kept_ratio: Ratio
    upper_optimum: Optimum

    @property
    def kept(self) -> Fraction | None:
        """The union ratio of what it keeps; None where it is undefined."""
        return self.kept_ratio.value

    @property
    def upper(self) -> Fraction | None:
        """The union ratio of the best it could keep; None where it is undefined or no proof."""
        if not self.upper_optimum.certified:
            return None
        return Ratio(self.upper_optimum.value, self.kept_ratio.optimum, "union").value

    @property
    def uncertified(self) -> int:
        """How many of the two optima are not certified."""
        return sum(not one.certified for one in (self.kept_ratio.optimum, self.upper_optimum))


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
    return Measured(
        store=store.name,
        budget=budget,
        kept_by=FITS if fits else RECENCY,
        kept_ratio=Ratio(
            audit.scorer.score(kept).value, audit.union_optimum(store, budget), "union"
        ),
        upper_optimum=audit.upper_optimum(store, budget),
    )

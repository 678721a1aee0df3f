"""A package under other labels: its certified optima, and the values and ratios of stores there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.optimum import Optimum
from memaudit.core.package import Package
from memaudit.label_audit.audited_package import relabelled
from memaudit.label_audit.fixed_stores import FixedStores, StoreKey
from memaudit.natural.label_passes import CellKey
from memaudit.scoring.score import Ratio
from memaudit.solvers.solve import PackageSolver

Relabelling = tuple[tuple[CellKey, Fraction], ...]
"""Cells whose labels differ from the package's, in order; identifies a labelling."""

LABELLINGS_PER_TASK = 8
"""Few enough to keep all cores busy with one package."""


@dataclass(frozen=True, slots=True)
class RelabelTask:
    """A package, its stores, and the labellings to score them under."""

    package: Package
    fixed: FixedStores
    budgets: tuple[Fraction, ...]
    labellings: tuple[Relabelling, ...]
    by: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class OptimumSummary:
    """An optimum without its proof; if it is certified, no store is worth more than `highest`.

    `undefined` says why it gives no ratios.
    """

    value: Fraction
    highest: Fraction
    certified: bool
    undefined: str
    store: tuple[str, ...]
    assumed: Fraction = Fraction(0)
    """The share of the value that rests on assumed cells."""


@dataclass(frozen=True, slots=True)
class RelabelledScores:
    """Every store under one labelling; a ratio is None where it is undefined."""

    digest: str
    optima: Mapping[Fraction, OptimumSummary]
    values: Mapping[StoreKey, Fraction]
    ratios: Mapping[StoreKey, Fraction | None]


def relabel_tasks(
    package: Package,
    fixed: FixedStores,
    budgets: tuple[Fraction, ...],
    labellings: Sequence[Relabelling],
    by: str,
    seconds: float | None = None,
) -> list[RelabelTask]:
    """The labellings, a few per task."""
    size = LABELLINGS_PER_TASK
    return [
        RelabelTask(package, fixed, budgets, tuple(labellings[at : at + size]), by, seconds)
        for at in range(0, len(labellings), size)
    ]


def score_labellings(task: RelabelTask) -> list[RelabelledScores]:
    """The scores under each labelling, in their order."""
    return [_scores(task, labelling) for labelling in task.labellings]


def _scores(task: RelabelTask, labelling: Relabelling) -> RelabelledScores:
    scorer = RelabelledScorer(relabelled(task.package, dict(labelling), task.by), task.seconds)
    ratios = {at: scorer.ratio(store, at[1]) for at, store in task.fixed.stores.items()}
    return RelabelledScores(
        scorer.digest,
        {budget: scorer.summary(budget) for budget in task.budgets},
        {at: ratio.numerator for at, ratio in ratios.items()},
        {at: ratio.value for at, ratio in ratios.items()},
    )


class RelabelledScorer:
    """Scores stores of one package; every budget is solved once."""

    def __init__(self, package: Package, seconds: float | None = None) -> None:
        self.package, self.seconds = package, seconds
        self._solver = PackageSolver(package)
        self._place = {id: u for u, id in enumerate(self._solver.form.candidate_ids)}
        self._optima: dict[Fraction, Optimum] = {}

    @property
    def digest(self) -> str:
        """The digest of the package under these labels."""
        return self._solver.checker.digest

    def optimum(self, budget: Fraction) -> Optimum:
        """The best store at a budget."""
        if budget not in self._optima:
            self._optima[budget] = self._solver.solve(budget, seconds=self.seconds)
        return self._optima[budget]

    def summary(self, budget: Fraction) -> OptimumSummary:
        """The optimum without its proof."""
        best = self.optimum(budget)
        highest = best.value if best.value_high is None else best.value_high
        undefined = Ratio(best.value, best).undefined
        return OptimumSummary(
            best.value, highest, best.certified, undefined, best.store, best.assumed
        )

    def ratio(self, store: Sequence[str], budget: Fraction) -> Ratio:
        """The store's value, rounded down where h is irrational, over the optimum."""
        form = self._solver.form
        value = form.low([self._place[id] for id in store])
        return Ratio(Fraction(value, form.value_scale), self.optimum(budget))

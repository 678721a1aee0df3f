"""A package under one set of labels: its certified optima, and what stores are worth there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.optimum import Optimum
from memaudit.core.package import Package
from memaudit.label_audit.audited_package import Cell, relabelled
from memaudit.label_audit.fixed_stores import At, Kept
from memaudit.scoring.ratio import Ratio
from memaudit.solvers.solve import PackageSolver


@dataclass(frozen=True, slots=True)
class Best:
    """An optimum without its proof; no store is worth more than `highest` where it is certified.

    `undefined` says why it gives no ratios.
    """

    value: Fraction
    highest: Fraction
    certified: bool
    undefined: str
    store: tuple[str, ...]


class Labelled:
    """Scores stores; every budget is solved once."""

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

    def best(self, budget: Fraction) -> Best:
        """The optimum without its proof."""
        found = self.optimum(budget)
        highest = found.value if found.value_high is None else found.value_high
        undefined = Ratio(found.value, found).undefined
        return Best(found.value, highest, found.certified, undefined, found.store)

    def ratio(self, store: Sequence[str], budget: Fraction) -> Ratio:
        """The store's value, rounded down where h is irrational, over the optimum."""
        form = self._solver.form
        value = form.low([self._place[id] for id in store])
        return Ratio(Fraction(value, form.value_scale), self.optimum(budget))


Change = tuple[tuple[Cell, Fraction], ...]
"""Cells that are labelled otherwise than in the package, in order: names a labelling."""

TOGETHER = 8
"""Labellings a task takes at most: small enough to keep all cores busy with one package."""


@dataclass(frozen=True, slots=True)
class Task:
    """A package, its stores, and the labellings to measure them under."""

    package: Package
    kept: Kept
    budgets: tuple[Fraction, ...]
    labellings: tuple[Change, ...]
    by: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Every store under one labelling; a ratio is None where it is undefined."""

    digest: str
    optima: Mapping[Fraction, Best]
    values: Mapping[At, Fraction]
    ratios: Mapping[At, Fraction | None]


def measure(task: Task) -> list[Measured]:
    """The measurements, in the order of the labellings."""
    return [_measured(task, change) for change in task.labellings]


def _measured(task: Task, change: Change) -> Measured:
    labelled = Labelled(relabelled(task.package, dict(change), task.by), task.seconds)
    found = {at: labelled.ratio(store, at[1]) for at, store in task.kept.stores.items()}
    return Measured(
        labelled.digest,
        {budget: labelled.best(budget) for budget in task.budgets},
        {at: ratio.numerator for at, ratio in found.items()},
        {at: ratio.value for at, ratio in found.items()},
    )


def tasks(
    package: Package,
    kept: Kept,
    budgets: tuple[Fraction, ...],
    labellings: Sequence[Change],
    by: str,
    seconds: float | None = None,
) -> list[Task]:
    """The labellings, a few a task."""
    return [
        Task(package, kept, budgets, tuple(labellings[at : at + TOGETHER]), by, seconds)
        for at in range(0, len(labellings), TOGETHER)
    ]

"""A package under one set of labels: its certified optima, and what stores are worth there."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.ratio import Ratio
from memaudit.core.optimum import Optimum
from memaudit.core.package import Package
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

"""Optima of labellings inside a box, solved only where those already proven leave them open."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.exact import Enclosure
from memaudit.core.package import Package
from memaudit.label_audit.audited_package import NOT_COVERED, Cell, Labels, own_values, relabelled
from memaudit.label_audit.fixed_stores import Kept
from memaudit.label_audit.relabelled_optima import Best, Labelled, Measured
from memaudit.scoring.ratio import NOT_CERTIFIED, ZERO


class Values:
    """The cells of a package by candidate; of its units, those that weigh something: how much, and
    how coverage turns into value."""

    def __init__(self, package: Package) -> None:
        weights = package.weights
        self.units = {
            unit.id: (weights[unit.id], unit.response) for unit in package.units if weights[unit.id]
        }
        self._cells: dict[str, dict[str, Fraction]] = {one.id: {} for one in package.candidates}
        for row in package.coverage:
            if row.unit in self.units:
                self._cells[row.candidate][row.unit] = row.value

    def changed(self, labels: Labels) -> "Values":
        """The same with other labels for some cells."""
        found = Values.__new__(Values)
        found.units, found._cells = self.units, dict(self._cells)
        own: dict[str, dict[str, Fraction]] = defaultdict(dict)
        for (candidate, unit), value in labels.items():
            if unit in self.units:
                own[candidate][unit] = value
        for candidate, cells in own.items():
            found._cells[candidate] = {**self._cells[candidate], **cells}
        return found

    def amounts(self, store: Iterable[str]) -> dict[str, Fraction]:
        """How far a store covers each unit that weighs something."""
        amounts: dict[str, Fraction] = defaultdict(Fraction)
        for candidate in store:
            for unit, value in self._cells[candidate].items():
                amounts[unit] += value
        return amounts

    def worth(self, store: Iterable[str]) -> Enclosure:
        """F of a store; a point unless some h is irrational."""
        total = Enclosure(Fraction(0), Fraction(0))
        for unit, amount in self.amounts(store).items():
            weight, response = self.units[unit]
            total += response.at(amount).times(weight)
        return total


@dataclass(frozen=True, slots=True)
class Box:
    """Open cells with the lowest and the highest label that each of them was given."""

    low: Labels
    high: Labels


def box_of(labellings: Iterable[Labels], own: Labels) -> Box:
    """The cells on which labellings differ from each other or from the package's own labels.

    A cell that a labelling leaves out has the package's own label there.
    """
    given: dict[Cell, set[Fraction]] = {}
    for labels in labellings:
        for at, value in labels.items():
            given.setdefault(at, {own.get(at, NOT_COVERED)}).add(value)
    wide = {at: values for at, values in sorted(given.items()) if len(values) > 1}
    return Box(
        {at: min(values) for at, values in wide.items()},
        {at: max(values) for at, values in wide.items()},
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """An optimum that is proven, and the labels of the open cells it belongs to."""

    labels: tuple[Fraction, ...]
    best: Best


class Inside:
    """A package whose open cells take labels of their box; labellings name no other cells."""

    def __init__(self, package: Package, box: Box, seconds: float | None = None) -> None:
        self.package, self.box, self.seconds = package, box, seconds
        own = own_values(package)
        self._own = {at: own.get(at, NOT_COVERED) for at in box.low}
        self._values = Values(package)
        self._known: dict[Fraction, list[_Known]] = {}
        self._found: dict[tuple[tuple[Fraction, ...], Fraction], Best] = {}
        self._by_labels: dict[tuple[Fraction, ...], Values] = {}
        self._solvers: dict[tuple[Fraction, ...], Labelled] = {}

    def learn(self, changed: Labels, found: Measured) -> None:
        """Take over what was solved before; labels that are not given are the package's own."""
        for budget, best in found.optima.items():
            self._add(self._all(changed), budget, best)

    def measured(self, changed: Labels, kept: Kept, budgets: Iterable[Fraction]) -> Measured:
        """All stores under a labelling; no package is built, so there is no digest."""
        values = self.values(changed)
        optima = {budget: self.optimum(changed, budget) for budget in budgets}
        worths = {at: values.worth(store).low for at, store in kept.stores.items()}
        ratios = {
            at: None if optima[at[1]].undefined else worth / optima[at[1]].highest
            for at, worth in worths.items()
        }
        return Measured("", optima, worths, ratios)

    def optimum(self, changed: Labels, budget: Fraction) -> Best:
        """The optimum of a labelling."""
        labels = self._all(changed)
        if (labels, budget) not in self._found:
            best = self._between(changed, budget)
            if best is None:
                if labels not in self._solvers:
                    package = relabelled(self.package, changed, "inside the box")
                    self._solvers[labels] = Labelled(package, self.seconds)
                best = self._solvers[labels].best(budget)
                self._add(labels, budget, best)
            self._found[labels, budget] = best
        return self._found[labels, budget]

    def _between(self, changed: Labels, budget: Fraction) -> Best | None:
        """The optimum where it follows from known ones."""
        labels, known = self._all(changed), self._known.get(budget, [])
        above = [one.best.highest for one in known if _nowhere_lower(one.labels, labels)]
        if not above:
            return None
        bound, values = min(above), self.values(changed)
        for store in dict.fromkeys(one.best.store for one in known):
            worth = values.worth(store)
            if worth.high == bound:
                return Best(worth.low, bound, True, "" if worth.low else ZERO, store)
        return None

    def values(self, changed: Labels) -> Values:
        """What stores are worth under a labelling."""
        labels = self._all(changed)
        if labels not in self._by_labels:
            self._by_labels[labels] = self._values.changed(changed)
        return self._by_labels[labels]

    def _all(self, changed: Labels) -> tuple[Fraction, ...]:
        return tuple(changed.get(at, own) for at, own in self._own.items())

    def _add(self, labels: tuple[Fraction, ...], budget: Fraction, best: Best) -> None:
        if best.undefined != NOT_CERTIFIED:
            self._known.setdefault(budget, []).append(_Known(labels, best))


def _nowhere_lower(labels: tuple[Fraction, ...], others: tuple[Fraction, ...]) -> bool:
    return all(one >= other for one, other in zip(labels, others, strict=True))

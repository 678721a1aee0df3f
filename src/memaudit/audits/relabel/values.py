"""What stores are worth when some cells are labelled otherwise, without building a package."""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from memaudit.audits.relabel.labels import Labels
from memaudit.core.exact import Enclosure
from memaudit.core.package import Package


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

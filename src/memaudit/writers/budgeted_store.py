"""A store that a deployable writer fills: it knows costs and group caps only."""

from fractions import Fraction

from memaudit.writers.protocol import View, VisibleCandidate


class BudgetedStore:
    """Starts empty. `keep` and `drop` change what is left of the budget."""

    def __init__(self, view: View, budget: Fraction) -> None:
        self.view, self.left = view, budget
        self._chosen: set[str] = set()
        self._kept: dict[str, int] = {}

    def fits(self, candidate: VisibleCandidate) -> bool:
        """Whether the budget and the group cap allow this candidate."""
        return (
            candidate.cost <= self.left
            and self._kept.get(candidate.experience, 0) < self.view.group_cap
            and candidate.id not in self._chosen
        )

    def keep(self, candidate: VisibleCandidate) -> None:
        self.left -= candidate.cost
        self._kept[candidate.experience] = self._kept.get(candidate.experience, 0) + 1
        self._chosen.add(candidate.id)

    def drop(self, candidate: VisibleCandidate) -> None:
        self.left += candidate.cost
        self._kept[candidate.experience] -= 1
        self._chosen.remove(candidate.id)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of what is kept, in order of arrival."""
        return tuple(c.id for c in self.view.candidates if c.id in self._chosen)

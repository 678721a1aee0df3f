"""A view in numbers as an estimator values it, and a store in the making on those estimates."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm

from memaudit.writers.estimators.protocol import Estimator, Novelty
from memaudit.writers.view import View


@dataclass(frozen=True, slots=True)
class Estimated:
    """Candidates by their place in the view: estimated values, whole costs, groups."""

    view: View
    values: tuple[float, ...]
    cost: tuple[int, ...]
    budget: int
    group: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    novelty: Callable[[], Novelty]


def estimated(view: View, budget: Fraction, estimator: Estimator) -> Estimated:
    """The view at a budget, in the eyes of an estimator."""
    scale = lcm(1, *(candidate.cost.denominator for candidate in view.candidates))
    groups: list[tuple[int, ...]] = []
    start = 0
    for members in view.groups:  # the view's candidates are its groups, one after the other
        groups.append(tuple(range(start, start + len(members))))
        start += len(members)
    return Estimated(
        view=view,
        values=estimator.values(view),
        cost=tuple(int(candidate.cost * scale) for candidate in view.candidates),
        budget=budget.numerator * scale // budget.denominator,
        group=tuple(g for g, members in enumerate(groups) for _ in members),
        groups=tuple(groups),
        novelty=estimator.novelty(view),
    )


class EstimatedDraft:
    """Starts empty; `keep` adds a candidate. A gain is the estimate times what is new of it."""

    def __init__(self, estimates: Estimated) -> None:
        self.estimates = estimates
        self.value, self.cost = 0.0, 0
        self.chosen: set[int] = set()
        self._kept = [0] * len(estimates.groups)
        self._novelty = estimates.novelty()

    def fits(self, place: int) -> bool:
        """Whether the budget and the group cap allow this candidate."""
        known = self.estimates
        return (
            self.cost + known.cost[place] <= known.budget
            and self._kept[known.group[place]] < known.view.group_cap
            and place not in self.chosen
        )

    def gain(self, place: int) -> float:
        """What this candidate would add, by the estimate."""
        worth = self.estimates.values[place]
        return worth * self._novelty.share(place) if worth > 0 else 0.0

    def density(self, place: int, gain: float) -> float:
        """A gain per cost; what costs nothing is denser than anything."""
        cost = self.estimates.cost[place]
        return gain / cost if cost else inf

    def keep(self, place: int) -> None:
        """Add a candidate."""
        self.value += self.gain(place)
        self.cost += self.estimates.cost[place]
        self._kept[self.estimates.group[place]] += 1
        self.chosen.add(place)
        self._novelty.keep(place)

    @property
    def store(self) -> tuple[str, ...]:
        """The ids of what is kept, in order of arrival."""
        return tuple(self.estimates.view.candidates[place].id for place in sorted(self.chosen))

"""A store in the making, in whole numbers: what fits, what a candidate would add, what is kept."""

from collections.abc import Callable
from functools import cached_property
from math import lcm

from memaudit.solvers.form import Form, Level


class Draft:
    """Starts empty; `keep` adds a candidate. Gains are exact up to the precision of h."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.chosen: set[int] = set()
        self.value = self.cost = 0
        self._amount = [0] * len(form.levels)
        self._kept = [0] * len(form.groups)
        self._worth = [_worth(level) for level in form.levels]

    def fits(self, u: int) -> bool:
        """Whether the budget and the group cap allow this candidate."""
        form = self.form
        return (
            self.cost + form.cost[u] <= form.budget
            and self._kept[form.group[u]] < form.group_cap
            and u not in self.chosen
        )

    def gain(self, u: int) -> int:
        """What this candidate would add to the value."""
        total, amount, levels = 0, self._amount, self.form.levels
        for unit, step in self.form.rows[u]:
            have, top = amount[unit], levels[unit].top
            if have < top:
                worth = self._worth[unit]
                total += worth(min(top, have + step)) - worth(have)
        return total

    def keep(self, u: int) -> None:
        """Add a candidate."""
        self.value += self.gain(u)
        self.cost += self.form.cost[u]
        self._kept[self.form.group[u]] += 1
        self.chosen.add(u)
        for unit, step in self.form.rows[u]:
            self._amount[unit] = min(self.form.levels[unit].top, self._amount[unit] + step)

    @cached_property
    def common_cost(self) -> int:
        """A multiple of every cost above 0: densities times this are whole numbers."""
        return lcm(1, *{cost for cost in self.form.cost if cost})

    @property
    def store(self) -> tuple[str, ...]:
        """The ids of what is kept, in order of arrival."""
        return tuple(self.form.candidate_ids[u] for u in sorted(self.chosen))


def _worth(level: Level) -> Callable[[int], int]:
    return level.value if level.table is None else level.table.__getitem__

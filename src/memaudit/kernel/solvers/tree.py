"""A depth-first search over keep-or-ban decisions, with the dual bound that certificates use.

At a node with kept set K, remaining budget b and an integer multiplier mu >= 0, no completion is
worth more than 1/Q of

    Q F(K) + mu b + sum over groups of the largest positive (Q gain_u - mu cost_u), as many as fit,

because gains only shrink as more is kept (paper, section 3). Upper tables of an irrational h may
miss concavity by two grid steps, so every such unit in a row adds that much to its gain.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memaudit.kernel.solvers.form import Form

Q = 1024
"""Multipliers are integers over this denominator."""

DENSITY_BITS = 32
"""Densities, which only steer the search, are compared to this many binary places."""


@dataclass(slots=True)
class Branch:
    """A decision on one candidate: kept below first, then banned.

    `promise` is Q times an upper bound on every store below; `mu` is what the subtrees inherit.
    """

    candidate: int
    promise: int
    mu: int
    banned: bool = False


class Tree:
    """The current node of the search among some candidates, and the decisions that lead to it."""

    def __init__(self, form: Form, candidates: Sequence[int]) -> None:
        self.form = form
        self._candidates = candidates
        self.value = 0
        self.budget = form.budget
        self.room = [form.group_cap] * len(form.groups)
        self.path: list[Branch] = []
        self.level = [0] * len(form.levels)
        self._worth = [0] * len(form.levels)
        slacks = [level.slack for level in form.levels]
        self._slack = [sum(slacks[unit] for unit, _ in row) for row in form.rows]
        self._undecided = [True] * len(form.rows)
        self._covering: list[list[int]] = [[] for _ in form.levels]
        for candidate in candidates:
            for unit, _ in form.rows[candidate]:
                self._covering[unit].append(candidate)
        self._gain = [0] * len(form.rows)
        self._density = [0] * len(form.rows)
        self._measure(candidates)

    @property
    def kept(self) -> tuple[int, ...]:
        """The candidates kept at this node."""
        return tuple(sorted(branch.candidate for branch in self.path if not branch.banned))

    def options(self) -> list[int]:
        """The free candidates: undecided, affordable, their group has room, and they may help."""
        cost, group, gain = self.form.cost, self.form.group, self._gain
        budget, room, undecided = self.budget, self.room, self._undecided
        return [
            c
            for c in self._candidates
            if undecided[c] and gain[c] > 0 and cost[c] <= budget and room[group[c]] > 0
        ]

    def bound(self, options: list[int], mu: int) -> int:
        """Q times an upper bound on every store at or below this node."""
        cost, group, gain, room = self.form.cost, self.form.group, self._gain, self.room
        rewards: dict[int, list[int]] = {}
        for c in options:
            reward = Q * gain[c] - mu * cost[c]
            if reward > 0:
                rewards.setdefault(group[c], []).append(reward)
        total = Q * self.value + mu * self.budget
        for owner, positive in rewards.items():
            fit = room[owner]
            total += max(positive) if fit == 1 else sum(sorted(positive, reverse=True)[:fit])
        return total

    def break_multiplier(self, options: list[int]) -> int:
        """Q times the density of the item that no longer fits the fractional knapsack; else 0."""
        cost, group, gain, density = self.form.cost, self.form.group, self._gain, self._density
        left = self.budget
        taken: dict[int, int] = {}
        for c in sorted(options, key=lambda c: -density[c]):
            taken[group[c]] = taken.get(group[c], 0) + 1
            if taken[group[c]] <= self.room[group[c]]:
                left -= cost[c]
                if left < 0:
                    return Q * gain[c] // cost[c]
        return 0

    def densest(self, options: list[int]) -> int:
        """The option with the most gain per cost; among equals, the first in canonical order."""
        return max(options, key=self._density.__getitem__)

    def descend(self, candidate: int, promise: int, mu: int) -> None:
        """Decide a candidate, and go to the node where it is kept."""
        self.path.append(Branch(candidate, promise, mu))
        self._undecided[candidate] = False
        self._keep(candidate, 1)

    def backtrack(self) -> bool:
        """Go to the next unvisited node in preorder; False when there is none."""
        while self.path and self.path[-1].banned:
            self._undecided[self.path.pop().candidate] = True
        if not self.path:
            return False
        self._keep(self.path[-1].candidate, -1)
        self.path[-1].banned = True
        return True

    def promise(self) -> int | None:
        """Q times a bound on every store not yet ruled out; None where only the root knows one."""
        waiting = [branch.promise for branch in self.path if not branch.banned]
        return max(waiting + [branch.promise for branch in self.path[-1:]], default=None)

    def _keep(self, candidate: int, sign: int) -> None:
        form = self.form
        self.budget -= sign * form.cost[candidate]
        self.room[form.group[candidate]] -= sign
        touched: set[int] = set()
        for unit, amount in form.rows[candidate]:
            self.level[unit] += sign * amount
            worth = form.levels[unit].value(self.level[unit])
            self.value += worth - self._worth[unit]
            self._worth[unit] = worth
            touched.update(self._covering[unit])
        self._measure(touched)

    def _measure(self, candidates: Iterable[int]) -> None:
        """Bring gains and densities up to date with the current coverage."""
        levels, level, worth = self.form.levels, self.level, self._worth
        for c in candidates:
            gain = self._slack[c]
            for unit, amount in self.form.rows[c]:
                gain += levels[unit].value(level[unit] + amount) - worth[unit]
            self._gain[c] = gain
            # Cost 0 counts as half a unit: ahead of its equals, and nothing is divided by 0.
            self._density[c] = (gain << (DENSITY_BITS + 1)) // (2 * self.form.cost[c] or 1)

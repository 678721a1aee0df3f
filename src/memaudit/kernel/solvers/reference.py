"""The two solvers in plain Python, and the search tree and greedy store that others use too.

`BruteForce` tries every store; it is what all others are compared with. `Reference` is a branch and
bound for any h and group cap.

The choices of a group are decided one by one, the densest of all groups next. Each decision sees
fresh bounds, so a group is rarely tried to its end.

Its tree is its proof. The tape is the tree in preorder: `2 mu` sets the multiplier for the subtree
that follows, `1 u` is followed by the subtree where candidate u is kept and the one where it is
banned, and `0` is a leaf whose dual bound lies below Q (value + granularity). Dominated candidates
are banned from the start, by the checker too.

The bound, which is the one that certificates use: at a node with kept set K, remaining budget b and
an integer multiplier mu >= 0, no completion is worth more than 1/Q of

    Q F(K) + mu b + sum over groups of the largest positive (Q gain_u - mu cost_u), as many as fit,

because gains only shrink as more is kept. Upper tables of an irrational h may miss concavity by two
grid steps, so every such unit in a row adds that much to its gain.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import combinations, product
from math import comb
from operator import itemgetter

from memaudit.kernel.solvers.form import Form, granularity
from memaudit.kernel.solvers.protocol import BRANCH, LEAF, MU, Limits, Proof, Solution
from memaudit.kernel.solvers.tie_breaking import undominated, without_waste

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
            # Only places that the group has use budget; those beyond are worth nothing in the
            # bound, too.
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
        # Both sides of these are done.
        while self.path and self.path[-1].banned:
            self._undecided[self.path.pop().candidate] = True
        if not self.path:
            return False
        self._keep(self.path[-1].candidate, -1)
        self.path[-1].banned = True
        return True

    def promise(self) -> int | None:
        """Q times a bound on every store not yet ruled out; None where only the root knows one."""
        # Open are the banned side of every branch that is still kept, and the present node. A bound
        # of a node holds for all below it, so the largest of theirs holds for what is left.
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


class Reference:
    """The paper's branch and bound, with a certificate."""

    name = "reference"

    def accepts(self, form: Form) -> str:  # noqa: ARG002 - takes every form
        return ""

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
        return _Search(form, limits, hint).run()


class _Search:
    """One run: the tree, the incumbent and the tape written so far."""

    def __init__(self, form: Form, limits: Limits, hint: tuple[int, ...]) -> None:
        self.form = form
        self.limits = limits
        self.step = granularity(form)
        self.tree = Tree(form, undominated(form))
        self.tape: list[int] = []
        self.nodes = 0
        # A bound that needs no tree; after an early stop the smaller of the two is reported.
        self.everything = form.value(range(len(form.rows)))
        self.root_promise = Q * self.everything
        starts = [greedy(form)] + ([hint] if form.feasible(hint) else [])
        # One tuple, so that an interrupt never finds a store with another store's value.
        self.best = max(((form.value(store), store) for store in starts), key=itemgetter(0))

    def run(self) -> Solution:
        """Search until the tree is closed, a limit is reached or the user interrupts."""
        stopped = ""
        try:
            while not stopped and self._visit():
                stopped = self._stop_reason()
        except KeyboardInterrupt:
            self.limits.interrupted, stopped = True, "interrupt"
        return self._solution(stopped)

    def _visit(self) -> bool:
        """Close or branch the current node and move to the next; False when none is left."""
        tree = self.tree
        self.nodes += 1
        if tree.value > self.best[0]:
            self.best = (tree.value, tree.kept)
        options = tree.options()
        bound, mu = self._bound(options)
        # The checker's mu is the parent's unless a word says otherwise.
        if not tree.path or mu != tree.path[-1].mu:
            self.tape += (MU, mu)
        if bound < self._enough():
            self.tape.append(LEAF)
            return tree.backtrack()
        if not tree.path:
            self.root_promise = bound
        candidate = tree.densest(options)
        self.tape += (BRANCH, candidate)
        tree.descend(candidate, bound, mu)
        return True

    def _bound(self, options: list[int]) -> tuple[int, int]:
        """A bound on this node and its multiplier: the first that prunes, else the least."""
        bounds: list[tuple[int, int]] = []
        for mu in self._multipliers(options):
            bounds.append((self.tree.bound(options, mu), mu))
            # Any multiplier proves; the first that closes the node spares the others.
            if bounds[-1][0] < self._enough():
                break
        return min(bounds, key=itemgetter(0))

    def _multipliers(self, options: list[int]) -> Iterator[int]:
        """Multipliers worth trying: the one above, the break item's, and none at all."""
        if self.tree.path:
            yield self.tree.path[-1].mu
        yield self.tree.break_multiplier(options)
        yield 0

    def _enough(self) -> int:
        """A bound below this rules out every store better than the incumbent."""
        return Q * (self.best[0] + self.step)

    def _stop_reason(self) -> str:
        if self.limits.nodes is not None and self.nodes >= self.limits.nodes:
            return "nodes"
        return "seconds" if self.limits.expired else ""

    def _solution(self, stopped: str) -> Solution:
        value, store = self.best
        statistics: dict[str, int | float | str] = {"nodes": self.nodes}
        chosen = without_waste(self.form, store)
        if not stopped:
            return Solution(chosen, value, value, True, Proof(tuple(self.tape)), statistics)
        statistics["stopped"] = stopped
        promise = self.tree.promise()
        bound = min(self.everything, (self.root_promise if promise is None else promise) // Q)
        return Solution(chosen, value, max(value, bound), closed=False, statistics=statistics)


def greedy(form: Form) -> tuple[int, ...]:
    """A feasible store by best gain per cost, gains brought up to date as they are needed."""
    amounts = [0] * len(form.levels)
    room = [form.group_cap] * len(form.groups)
    budget, kept = form.budget, []

    def entry(candidate: int) -> tuple[Fraction, int]:
        gain = sum(
            form.levels[unit].value(amounts[unit] + amount) - form.levels[unit].value(amounts[unit])
            for unit, amount in form.rows[candidate]
        )
        return (-Fraction(2 * gain, 2 * form.cost[candidate] or 1), candidate)

    queue = [entry(candidate) for candidate in range(len(form.rows))]
    heapify(queue)
    while queue:
        _, candidate = heappop(queue)
        if form.cost[candidate] > budget or room[form.group[candidate]] == 0:
            continue
        current = entry(candidate)
        # Gains only shrink, so what adds nothing now never will.
        if current[0] == 0:
            continue
        # An entry is an upper bound on the present density. If the corrected one is no longer the
        # best it goes back; so each is corrected only when it is on top.
        if queue and current > queue[0]:
            heappush(queue, current)
            continue
        kept.append(candidate)
        budget -= form.cost[candidate]
        room[form.group[candidate]] -= 1
        for unit, amount in form.rows[candidate]:
            amounts[unit] += amount
    return tuple(sorted(kept))


MOST_STORES = 2_000_000


class BruteForce:
    """Enumerates every choice of at most k candidates per group."""

    name = "brute"

    def accepts(self, form: Form) -> str:
        stores = 1
        for group in form.groups:
            most = min(form.group_cap, len(group))
            stores *= sum(comb(len(group), size) for size in range(most + 1))
            if stores > MOST_STORES:
                return f"more than {MOST_STORES:,} stores to try; brute force is for tiny packages"
        return ""

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
        best, best_value, tried = hint, form.value(hint), 0
        options = [list(_choices(group, form.group_cap)) for group in form.groups]
        for choice in product(*options):
            if tried % 1024 == 0 and limits.expired:
                return Solution(best, best_value, None, closed=False, statistics={"nodes": tried})
            tried += 1
            # In canonical order, and only a better store replaces the best: of equal ones the first
            # stays.
            store = tuple(candidate for part in choice for candidate in part)
            if sum(form.cost[candidate] for candidate in store) > form.budget:
                continue
            value = form.value(store)
            if value > best_value:
                best, best_value = store, value
        return Solution(best, best_value, best_value, closed=True, statistics={"nodes": tried})


def _choices(group: tuple[int, ...], cap: int) -> list[tuple[int, ...]]:
    return [
        choice for size in range(min(cap, len(group)) + 1) for choice in combinations(group, size)
    ]

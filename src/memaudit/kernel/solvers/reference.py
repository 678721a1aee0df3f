"""Branch and bound over groups in exact Python integers: slow and plain, for any h and group cap.

The choices of a group are decided one by one, the densest of all groups next. Each decision sees
fresh bounds, so a group is rarely tried to its end.

Its tree is its proof. The tape is the tree in preorder: `2 mu` sets the multiplier for the subtree
that follows, `1 u` is followed by the subtree where candidate u is kept and the one where it is
banned, and `0` is a leaf whose dual bound (tree.py) lies below Q (value + granularity).
Dominated candidates are banned from the start, by the checker too.
"""

from collections.abc import Iterator
from fractions import Fraction
from heapq import heapify, heappop, heappush
from operator import itemgetter

from memaudit.kernel.solvers.form import Form, granularity
from memaudit.kernel.solvers.protocol import Limits, Proof, Solution
from memaudit.kernel.solvers.tie_breaking import undominated, without_waste
from memaudit.kernel.solvers.tree import Q, Tree

SET, BRANCH, LEAF = 2, 1, 0


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
        if not tree.path or mu != tree.path[-1].mu:
            self.tape += (SET, mu)
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
        if current[0] == 0:
            continue
        if queue and current > queue[0]:
            heappush(queue, current)
            continue
        kept.append(candidate)
        budget -= form.cost[candidate]
        room[form.group[candidate]] -= 1
        for unit, amount in form.rows[candidate]:
            amounts[unit] += amount
    return tuple(sorted(kept))

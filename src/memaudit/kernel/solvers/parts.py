"""Solving where candidates have parts: a store keeps a candidate or some of its parts, never both.

Backends know nothing of parts. They solve a form without that rule, which can only raise its
optimum. If their store obeys the rule, or is worth no more than one that does, their proof holds as
it is. Otherwise the search branches on a candidate that is kept against the rule: where it is kept,
all that it excludes is banned. Each branch is a form of its own for the backend.

Branches number candidates, units and groups as the root does, so their proofs join to one tree:

    1 u      branch on u; where it is kept, ...
    1 v 7    ... v, which it excludes, is banned: the two cannot be kept together
    ...      the proof of the branch where u is kept
    ...      the proof of the branch where u is banned

Two things make the proof of a branch hold in the tree. Its bounds plus the value of what is kept
are those of the checker, number for number, because its units start at the levels that they then
have. And it leaves out what the checker leaves out at the root and proves as fine a step as the
root needs (`Form.root_grain`): alone, it would find more dominated candidates and a coarser grain.

A branch is also closed if even all that it could cover is worth no more than the best store known
(`_ceiling`). Without that, where the budget is ample, each candidate with parts would double the
number of branches.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from memaudit.kernel.package.optimum import Layout
from memaudit.kernel.solvers.form import Form, granularity
from memaudit.kernel.solvers.protocol import (
    BRANCH,
    BROKEN,
    FIX,
    LAYOUT,
    LEAF,
    MU,
    PRICE,
    ZERO,
    Limits,
    Proof,
    Solution,
    Solver,
    Tell,
)
from memaudit.kernel.solvers.reference import Q, greedy
from memaudit.kernel.solvers.tie_breaking import undominated, without_waste


def solve_with_parts(
    backend: Solver, form: Form, limits: Limits, hint: tuple[int, ...] = ()
) -> Solution:
    """The best store that keeps no candidate beside its parts, found with a backend."""
    if not form.parts:
        return backend.solve(form, limits, hint)
    tell, limits.progress = limits.progress, None  # a branch knows nothing of the whole
    try:
        return _Search(backend, form, limits, hint).run(tell)
    finally:
        limits.progress = tell


@dataclass(frozen=True, slots=True)
class _Branch:
    """Stores of at most `bound`: they keep `kept`, worth `value`, and choose from `form`."""

    form: Form
    hint: tuple[int, ...]
    kept: tuple[int, ...]
    value: int
    bound: int


class _Search:
    """Branches depth first, in the order of the proof.

    `bounds` are those of branches that a backend closed without proving it in integers.
    """

    def __init__(self, backend: Solver, form: Form, limits: Limits, hint: tuple[int, ...]) -> None:
        self.backend, self.form, self.limits = backend, form, limits
        self.excluded, self.whole, self.grain = _excluded(form), _wholes(form), granularity(form)
        self.store, self.value = (hint, form.value(hint)) if form.feasible(hint) else ((), 0)
        root = _root(form)
        # One store that obeys the rule from the start: without wholes, there are only parts.
        self._offer(greedy(_without(root, set(self.whole.values()))))
        everything = form.value(range(len(form.rows)))
        self.waiting = [_Branch(root, self.store, (), 0, everything)]
        self.bounds: list[int] = []
        self.tape: list[int] = []
        self.layouts: list[Layout] = []
        self.solutions: list[Solution] = []
        self.nodes = 0

    def run(self, tell: Tell | None) -> Solution:
        """Search until no branch waits, one stays open, or a limit is reached."""
        while self.waiting:
            if tell is not None:
                tell(self.value, max(branch.bound for branch in self.waiting), self.nodes)
            branch = self.waiting.pop()
            most, leaf = _ceiling(branch.form, self.whole)
            most += branch.value
            # Not at the root, whose backend proves the same by itself and reports what users expect
            # of it.
            if self.solutions and most < self.value + self.grain:
                self.tape += leaf
                continue
            solution = self.backend.solve(branch.form, self.limits, branch.hint)
            self.solutions.append(solution)
            self.nodes += int(solution.statistics.get("nodes", 0))
            # A backend without bounds of its own (highs) leaves what everything together is worth.
            bound = most if solution.bound is None else branch.value + solution.bound
            branch = replace(branch, bound=min(branch.bound, most, bound))
            chosen = without_waste(branch.form, solution.chosen)
            # Before the branch is judged: repaired, its store may be what closes it.
            self._offer((*branch.kept, *chosen))
            if not solution.closed:
                self.waiting.append(branch)
                break
            # The store of the branch may break the rule, but it is worth no more than one that
            # obeys it, and the branch's proof shows that nothing in it is worth more.
            if branch.value + solution.value <= self.value:
                self._close(branch, solution)
            elif most < self.value + self.grain:
                self.tape += leaf
            else:
                self._split(branch, chosen)
                if self._out_of_limits:
                    break
        return self._solution()

    def _clashes(self, store: Collection[int]) -> dict[int, int]:
        """By candidate that is kept against the rule, how many of those that it excludes are."""
        kept = set(store)
        counts = {u: len(kept.intersection(self.excluded[u])) for u in sorted(kept)}
        return {u: count for u, count in counts.items() if count}

    def _worst(self, clashes: dict[int, int]) -> int:
        """Of candidates kept against the rule, that which excludes most: usually the whole."""
        return max(clashes, key=lambda u: (clashes[u], len(self.excluded[u]), -u))

    def _offer(self, store: Collection[int]) -> None:
        """Take a store, once it obeys the rule, if it is the best so far."""
        kept = frozenset(store)
        while clashes := self._clashes(kept):
            u = self._worst(clashes)
            # The better of the two ways to obey: without u, or without all that u excludes.
            kept = max(kept - {u}, kept.difference(self.excluded[u]), key=self.form.value)
        if self.form.value(kept) > self.value:
            self.store, self.value = tuple(sorted(kept)), self.form.value(kept)

    def _close(self, branch: _Branch, solution: Solution) -> None:
        """Add a branch's proof to the tree."""
        if solution.bound is None:
            self.bounds.append(branch.bound)
        if solution.proof is not None:
            self.tape += _from_layout(len(self.layouts), solution.proof.tape)
            self.layouts += solution.proof.layouts

    def _split(self, branch: _Branch, chosen: Sequence[int]) -> None:
        """Let the branches wait where a candidate of the store is kept and where it is banned."""
        form = branch.form
        u = self._worst(self._clashes((*branch.kept, *chosen)))
        out = {v for v in self.excluded[u] if form.rows[v]}
        self.tape += (BRANCH, u)
        # In the checker's tree each excluded candidate is banned by a branch whose kept side is
        # broken.
        for v in sorted(out):
            self.tape += (BRANCH, v, BROKEN)
        rest = tuple(v for v in chosen if v != u)
        banned = replace(branch, form=_without(form, {u}), hint=rest)
        kept = _Branch(
            _keeping(_without(form, out), u),
            tuple(v for v in rest if v not in out),
            (*branch.kept, u),
            branch.value + form.value((u,)),
            branch.bound,
        )
        # The kept side is taken up first, as the proof has it.
        self.waiting += (banned, kept)

    @property
    def _out_of_limits(self) -> bool:
        most = self.limits.nodes
        return self.limits.expired or (most is not None and self.nodes >= most)

    def _solution(self) -> Solution:
        closed = not self.waiting
        bound = max([self.value, *self.bounds, *(branch.bound for branch in self.waiting)])
        proven = closed and all(solution.proof for solution in self.solutions)
        proof = Proof(tuple(self.tape), tuple(self.layouts)) if proven else None
        statistics: dict[str, int | float | str] = {}
        for solution in reversed(self.solutions):  # what several report is the root's
            statistics |= solution.statistics
        statistics |= {"nodes": self.nodes, "branches": len(self.solutions)}
        return Solution(self.store, self.value, bound, closed, proof, statistics)


def _excluded(form: Form) -> list[set[int]]:
    """By candidate, its parts and what it is a part of."""
    excluded: list[set[int]] = [set(parts) for parts in form.parts]
    for whole, parts in enumerate(form.parts):
        for part in parts:
            excluded[part].add(whole)
    return excluded


def _wholes(form: Form) -> dict[int, int]:
    """By candidate that has or is a part, itself or the first that it is a part of."""
    whole: dict[int, int] = {}
    for u, parts in enumerate(form.parts):
        for v in (u, *parts) if parts else ():
            whole.setdefault(v, u)
    return whole


def _root(form: Form) -> Form:
    """The form without its rule and without what the checker leaves out."""
    useful = set(undominated(form))
    useless = {u for u in range(len(form.rows)) if u not in useful}
    return replace(_without(form, useless), parts=(), root_grain=granularity(form))


def _without(form: Form, banned: Collection[int]) -> Form:
    """The form where these candidates cover nothing."""
    rows = tuple(() if u in banned else row for u, row in enumerate(form.rows))
    return replace(form, rows=rows)


def _keeping(form: Form, u: int) -> Form:
    """What a store that keeps u may add, counted from there; no row has a unit that is full."""
    levels = list(form.levels)
    for unit, amount in form.rows[u]:
        levels[unit] = levels[unit].after(amount)
    rows = tuple(
        tuple((unit, amount) for unit, amount in row if levels[unit].top)
        for row in _without(form, {u}).rows
    )
    return replace(form, rows=rows, levels=tuple(levels), budget=form.budget - form.cost[u])


def _from_layout(first: int, tape: Sequence[int]) -> list[int]:
    """The tape with its layouts numbered from `first` on."""
    words, at = list(tape), 0
    while at < len(words):
        word = words[at]
        if word == LAYOUT:
            words[at + 1] += first
        # The words that follow are no words of their own: their number tells how far to skip.
        if word == PRICE:
            at += 2 + 3 * words[at + 1]
        elif word == FIX:
            at += 2 + words[at + 1]
            at += 1 + words[at]
        else:
            at += 2 if word in (BRANCH, MU, LAYOUT) else 1
    return words


def _ceiling(form: Form, whole: dict[int, int]) -> tuple[int, list[int]]:
    """A bound on what a form can cover at any cost, and the leaf that proves it.

    It is the checker's at mu 0. A unit gets all its candidates for nothing, or they sell it all
    that each of them could add, where a candidate or its parts count: whichever gives less.
    """
    covering: list[dict[int, int]] = [{} for _ in form.levels]
    for u, row in enumerate(form.rows):
        if form.cost[u] <= form.budget:
            for unit, amount in row:
                covering[unit][u] = amount
    total, sold = 0, dict[int, int]()
    prices: list[int] = []
    for unit, (level, amounts) in enumerate(zip(form.levels, covering, strict=True)):
        # What the checker calls the ceiling of each candidate on this unit.
        gains = {u: level.value(z) + level.slack for u, z in amounts.items()}
        free = level.value(_reach(form, amounts))
        # Either way gives a valid bound, so the choice is free. It is made unit by unit, though
        # groups sell to all units together.
        if _best_sales(form, gains, whole) >= free:
            total += free
            continue
        for u, gain in gains.items():
            sold[u] = sold.get(u, 0) + gain
            prices += (u, unit, Q * gain)
    total += _best_sales(form, sold, whole)
    return total, [ZERO, *((PRICE, len(prices) // 3, *prices) if prices else ()), LEAF]


def _reach(form: Form, amounts: dict[int, int]) -> int:
    """How far a unit gets if it has all for nothing; the checker heeds no cap above 1 then."""
    if form.group_cap > 1:
        return sum(amounts.values())
    best: dict[int, int] = {}
    for u, amount in amounts.items():
        best[form.group[u]] = max(amount, best.get(form.group[u], 0))
    return sum(best.values())


def _best_sales(form: Form, gains: dict[int, int], whole: dict[int, int]) -> int:
    """The most that a store may sell: of a group its best candidates, else a whole or its parts."""
    groups: dict[int, list[int]] = {}
    sides: dict[int, list[int]] = {}
    for u, gain in gains.items():
        if u in whole:
            sides.setdefault(whole[u], [0, 0])[u == whole[u]] += gain
        else:
            groups.setdefault(form.group[u], []).append(gain)
    best = [gain for each in groups.values() for gain in sorted(each)[-form.group_cap :]]
    return sum(best) + sum(max(two) for two in sides.values())

"""GVT, the writer of the paper, and greedy writers: over everything, by density, of one kind."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property
from heapq import heapify, heappop, heapreplace
from math import lcm
from typing import Literal

from memaudit.kernel.solvers.form import Form, Level
from memaudit.lab.sweeps.writers.protocol import OracleView


class GreedyDraft:
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
        total, amount, levels = 0, self._amount, self.form.levels
        for unit, step in self.form.rows[u]:
            have, top = amount[unit], levels[unit].top
            # Beyond `top` h gains nothing: skipping such units is exact, and most of a full store
            # is there.
            if have < top:
                worth = self._worth[unit]
                # Submodular: `have` only grows, so a gain computed earlier is an upper bound of
                # this one.
                total += worth(min(top, have + step)) - worth(have)
        return total

    def keep(self, u: int) -> None:
        self.value += self.gain(u)
        self.cost += self.form.cost[u]
        self._kept[self.form.group[u]] += 1
        self.chosen.add(u)
        for unit, step in self.form.rows[u]:
            self._amount[unit] = min(self.form.levels[unit].top, self._amount[unit] + step)

    @cached_property
    def common_cost(self) -> int:
        """A multiple of every cost above 0, so that densities times this are whole numbers."""
        return lcm(1, *{cost for cost in self.form.cost if cost})

    @property
    def store(self) -> tuple[str, ...]:
        return tuple(self.form.candidate_ids[u] for u in sorted(self.chosen))


def _worth(level: Level) -> Callable[[int], int]:
    return level.value if level.table is None else level.table.__getitem__


Rank = tuple[bool, int, int, int, str]


def rank(draft: GreedyDraft, u: int) -> Rank | None:
    """The rank of a candidate now, higher is better; None if it adds nothing."""
    gain, cost = draft.gain(u), draft.form.cost[u]
    if gain <= 0:
        return None
    # A division would need fractions; scaled by a common multiple of all costs, whole numbers have
    # the same order. Free candidates come first by the leading `cost == 0`, whatever they gain.
    density = gain * (draft.common_cost // cost) if cost else 0
    return cost == 0, density, gain, -cost, draft.form.candidate_ids[u]


def densest(draft: GreedyDraft, candidates: Iterable[int]) -> int | None:
    """The candidate with the highest marginal density among those that fit."""
    ranked = [(rank(draft, u), u) for u in candidates if draft.fits(u)]
    useful = [(place, u) for place, u in ranked if place is not None]
    return max(useful)[1] if useful else None


class _Entry:
    """A heap entry; the best rank comes first."""

    __slots__ = ("rank", "u")

    def __init__(self, rank: Rank, u: int) -> None:
        self.rank, self.u = rank, u

    def __lt__(self, other: "_Entry") -> bool:
        return self.rank > other.rank


def density_greedy(form: Form, candidates: Iterable[int]) -> GreedyDraft:
    """Repeatedly keep the densest marginal that fits, until nothing fits or helps.

    Marginals and room only shrink, so a rank that is still the best after an update is the best.
    """
    draft = GreedyDraft(form)
    ranked = [(rank(draft, u), u) for u in candidates if draft.fits(u)]
    heap = [_Entry(place, u) for place, u in ranked if place is not None]
    heapify(heap)
    while heap:
        top = heap[0]
        place = rank(draft, top.u) if draft.fits(top.u) else None
        if place is None:
            heappop(heap)
        # Lazy greedy: the rank in the heap is old and at least as good as the present one. The
        # entry goes back with its present rank, and is the best of all if it comes to the top
        # again.
        elif place < top.rank:
            heapreplace(heap, _Entry(place, top.u))
        else:
            draft.keep(top.u)
            heappop(heap)
    return draft


class Greedy:
    """Keeps the candidate with the highest marginal density until nothing fits or helps."""

    name = "greedy"
    label = "Offline greedy"
    about = "over the whole stream, the densest marginal first"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        form = view.at(budget)
        return density_greedy(form, range(len(form.cost))).store


class DensityOnly:
    """Each arriving group keeps its densest marginal that fits; it never looks back."""

    name = "density_only"
    label = "Density only"
    about = "in each arriving group, the densest marginal that fits"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        draft = GreedyDraft(view.at(budget))
        for group in draft.form.groups:
            for _ in range(min(draft.form.group_cap, len(group))):
                best = densest(draft, group)
                if best is None:
                    break
                draft.keep(best)
        return draft.store


class SingleKind:
    """Offline greedy over the candidates of one kind."""

    peeks: Literal[True] = True
    monotone = False

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = f"{kind}_only"
        self.label = f"{kind.capitalize()} only"
        self.about = f"offline greedy over candidates of kind {kind}"

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        form, kinds = view.at(budget), view.package.candidate
        family = [u for u, id in enumerate(form.candidate_ids) if kinds[id].kind == self.kind]
        return density_greedy(form, family).store


def best_pass(form: Form, grid: Iterable[Fraction]) -> GreedyDraft:
    """The pass with the highest value; among equals the cheapest, then the first.

    Raising the threshold only removes candidates from a group's choice. So while it stays at or
    below the density of everything a pass kept, the pass stays the same and is not repeated.
    """
    best, same_until = GreedyDraft(form), Fraction(-1)
    for threshold in grid:
        # Every kept density is at least `same_until`, so this threshold would keep the same.
        if threshold <= same_until:
            continue
        draft, same_until = threshold_pass(form, threshold)
        if (draft.value, -draft.cost) > (best.value, -best.cost):
            best = draft
    return best


def threshold_pass(form: Form, threshold: Fraction) -> tuple[GreedyDraft, Fraction]:
    """Groups arrive in order; each keeps its largest marginal of at least this density.

    Also returns the lowest density that was kept, or the threshold if nothing was.
    """
    draft = GreedyDraft(form)
    rise, run = threshold.numerator, threshold.denominator
    cost, ids = form.cost, form.candidate_ids
    lowest = None
    for group in form.groups:
        for _ in range(min(form.group_cap, len(group))):
            best = None
            for u in group:
                if not draft.fits(u):
                    continue
                gain = draft.gain(u)
                # gain / cost >= rise / run, multiplied out: exact, and a cost of 0 passes every
                # threshold.
                if gain > 0 and gain * run >= rise * cost[u]:
                    place = (gain, -cost[u], ids[u], u)
                    if best is None or place > best:
                        best = place
            if best is None:
                break
            gain, price, u = best[0], cost[best[3]], best[3]
            # Free candidates pass every threshold, so they do not bound the next one that differs.
            if price and (lowest is None or gain * lowest[1] < lowest[0] * price):
                lowest = (gain, price)
            draft.keep(u)
    return draft, Fraction(*lowest) if lowest else threshold


def singleton_grid(form: Form) -> list[Fraction]:
    """0 and every distinct density of a candidate alone."""
    densities = {Fraction(gain, cost) for gain, cost in _alone(form) if cost}
    return sorted(densities | {Fraction(0)})


def geometric_grid(form: Form, eps: Fraction) -> list[Fraction]:
    """0 and thresholds that fall by a factor 1 - eps from half the highest density.

    OPT lies between the best singleton m and B times the highest density D, so OPT / 2B lies
    between m / 2B and D / 2, and some threshold is within a factor 1 - eps below it.
    """
    if not 0 < eps < 1:
        raise ValueError(f"eps is {eps}; it must be between 0 and 1")
    alone = [(gain, cost) for gain, cost in _alone(form) if cost]
    grid: list[Fraction] = []
    if alone:
        threshold = max(Fraction(gain, cost) for gain, cost in alone) / 2
        # More than everything costs is not worth more; then the pass at 0 keeps half of OPT.
        budget = min(form.budget, sum(form.cost))
        lowest = (1 - eps) * max(gain for gain, _ in alone) / (2 * budget)
        while threshold >= lowest:
            grid.append(threshold)
            threshold *= 1 - eps
    return [Fraction(0), *reversed(grid)]


def _alone(form: Form) -> list[tuple[int, int]]:
    """Value and cost of every candidate that fits alone and is worth something."""
    empty = GreedyDraft(form)
    pairs = [(empty.gain(u), cost) for u, cost in enumerate(form.cost) if cost <= form.budget]
    return [(gain, cost) for gain, cost in pairs if gain > 0]


class Gvt:
    """The best of one streaming pass per threshold; the grid holds every singleton density."""

    name = "gvt"
    label = "GVT"
    about = (
        "grouped value-threshold: each group keeps its largest marginal above the best threshold"
    )
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        form = view.at(budget)
        return best_pass(form, singleton_grid(form)).store


class GvtGeometric:
    """At least (1 - eps) OPT / 4 if every candidate costs more than 0 and at most B / 2."""

    name = "gvt_geometric"
    label = "GVT, geometric grid"
    about = "GVT whose thresholds fall by a constant factor; scales to long streams"
    peeks: Literal[True] = True
    monotone = False

    def __init__(self, eps: Fraction = Fraction(1, 10)) -> None:
        self.eps = eps

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        form = view.at(budget)
        return best_pass(form, geometric_grid(form, self.eps)).store

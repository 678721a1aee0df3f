"""GVT, the paper's calibration reference, on the published or on a geometric grid."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from memaudit.kernel.solvers.form import Form
from memaudit.lab.writers.greedy import GreedyDraft
from memaudit.lab.writers.protocol import OracleView


def best_pass(form: Form, grid: Iterable[Fraction]) -> GreedyDraft:
    """The pass with the highest value; among equals the cheapest, then the first.

    Raising the threshold only removes candidates from a group's choice. So while it stays at or
    below the density of everything a pass kept, the pass stays the same and is not repeated.
    """
    best, same_until = GreedyDraft(form), Fraction(-1)
    for threshold in grid:
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
                if gain > 0 and gain * run >= rise * cost[u]:
                    place = (gain, -cost[u], ids[u], u)
                    if best is None or place > best:
                        best = place
            if best is None:
                break
            gain, price, u = best[0], cost[best[3]], best[3]
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

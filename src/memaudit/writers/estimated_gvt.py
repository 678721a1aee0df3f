"""Estimated GVT: grouped value-threshold passes on estimated instead of exact values."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.estimated import Estimated, EstimatedDraft, estimated
from memaudit.writers.estimators.protocol import Estimator
from memaudit.writers.view import View

MOST_THRESHOLDS = 64


class EstimatedGvt:
    """GVT as a product could run it: the same passes, with an estimator in place of the labels."""

    peeks: Literal[False] = False
    monotone = False

    def __init__(self, estimator: Estimator, name: str, label: str) -> None:
        self.estimator, self.name, self.label = estimator, name, label
        self.about = f"GVT passes on estimated values: {estimator.about}"

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        estimates = estimated(view, budget, self.estimator)
        best = EstimatedDraft(estimates)
        for threshold in threshold_grid(estimates):
            draft = one_pass(estimates, threshold)
            if (draft.value, -draft.cost) > (best.value, -best.cost):
                best = draft
        return best.store


def threshold_grid(estimates: Estimated) -> list[float]:
    """0 and every distinct estimated density of a candidate that fits alone, evenly thinned out."""
    empty = EstimatedDraft(estimates)
    places = [p for p, cost in enumerate(estimates.cost) if 0 < cost <= estimates.budget]
    grid = sorted({0.0} | {empty.density(p, empty.gain(p)) for p in places})
    if len(grid) <= MOST_THRESHOLDS:
        return grid
    last = len(grid) - 1
    return [grid[i * last // (MOST_THRESHOLDS - 1)] for i in range(MOST_THRESHOLDS)]


def one_pass(estimates: Estimated, threshold: float) -> EstimatedDraft:
    """Groups arrive in order; each keeps its largest marginal of at least this density."""
    draft = EstimatedDraft(estimates)
    for group in estimates.groups:
        for _ in range(min(estimates.view.group_cap, len(group))):
            best = None
            for place in group:
                if not draft.fits(place):
                    continue
                gain = draft.gain(place)
                if gain > 0 and draft.density(place, gain) >= threshold:
                    rank = (gain, -estimates.cost[place], -place)
                    if best is None or rank > best:
                        best = rank
            if best is None:
                break
            draft.keep(-best[2])
    return draft

"""Estimated greedy: all candidates at once, the densest estimated marginal first."""

from fractions import Fraction
from heapq import heapify, heappop, heapreplace
from typing import Literal

from memaudit.writers.estimated import EstimatedDraft, estimated
from memaudit.writers.estimators.protocol import Estimator
from memaudit.writers.view import View


class EstimatedGreedy:
    """Offline density greedy on estimates; ties go to the larger gain, then the cheaper."""

    peeks: Literal[False] = False
    monotone = False

    def __init__(self, estimator: Estimator, name: str, label: str) -> None:
        self.estimator, self.name, self.label = estimator, name, label
        self.about = f"offline density greedy on estimated values: {estimator.about}"

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        draft = EstimatedDraft(estimated(view, budget, self.estimator))
        heap = [
            _entry(draft, place)
            for place in range(len(view.candidates))
            if draft.fits(place) and draft.gain(place) > 0
        ]
        heapify(heap)
        # Gains only fall and room only shrinks: an entry that is still first is the best of all.
        while heap:
            place = heap[0][3]
            if not draft.fits(place) or draft.gain(place) <= 0:
                heappop(heap)
                continue
            entry = _entry(draft, place)
            if entry > heap[0]:
                heapreplace(heap, entry)
            else:
                draft.keep(place)
                heappop(heap)
        return draft.store


def _entry(draft: EstimatedDraft, place: int) -> tuple[float, float, int, int]:
    gain = draft.gain(place)
    return -draft.density(place, gain), -gain, draft.estimates.cost[place], place

"""Writers that a product could run: the passes of GVT and greedy on estimated values."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heapreplace
from math import inf, lcm
from typing import Literal

from memaudit.lab.sweeps.writers.lexical import (
    CUES,
    LexicalNovelty,
    cue_values,
    lexical_novelty,
)
from memaudit.lab.sweeps.writers.protocol import View

Values = Callable[[View], tuple[float, ...]]
"""The value of each candidate alone, in the order of the view, never below 0, by what is visible.
No value depends on an id."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """Candidates by their place in the view: estimated values, whole costs, groups."""

    view: View
    values: tuple[float, ...]
    cost: tuple[int, ...]
    budget: int
    group: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    novelty: Callable[[], LexicalNovelty]
    """A factory of empty novelties: the view is read once for all of them."""


def estimated(view: View, budget: Fraction, values: Values = cue_values) -> Estimated:
    scale = lcm(1, *(candidate.cost.denominator for candidate in view.candidates))
    groups: list[tuple[int, ...]] = []
    start = 0
    for members in view.groups:  # the view's candidates are its groups, one after the other
        groups.append(tuple(range(start, start + len(members))))
        start += len(members)
    return Estimated(
        view=view,
        values=values(view),
        cost=tuple(int(candidate.cost * scale) for candidate in view.candidates),
        budget=budget.numerator * scale // budget.denominator,
        group=tuple(g for g, members in enumerate(groups) for _ in members),
        groups=tuple(groups),
        novelty=lexical_novelty(view),
    )


class EstimatedDraft:
    """Starts empty; `keep` adds a candidate. A gain is the estimate times the new share."""

    def __init__(self, estimates: Estimated) -> None:
        self.estimates = estimates
        self.value, self.cost = 0.0, 0
        self.chosen: set[int] = set()
        self._kept = [0] * len(estimates.groups)
        self._novelty = estimates.novelty()

    def fits(self, place: int) -> bool:
        """Whether the budget and the group cap allow this candidate."""
        estimates = self.estimates
        return (
            self.cost + estimates.cost[place] <= estimates.budget
            and self._kept[estimates.group[place]] < estimates.view.group_cap
            and place not in self.chosen
        )

    def gain(self, place: int) -> float:
        worth = self.estimates.values[place]
        return worth * self._novelty.share(place) if worth > 0 else 0.0

    def density(self, place: int, gain: float) -> float:
        """Gain per cost; infinite if the candidate is free."""
        cost = self.estimates.cost[place]
        return gain / cost if cost else inf

    def keep(self, place: int) -> None:
        self.value += self.gain(place)
        self.cost += self.estimates.cost[place]
        self._kept[self.estimates.group[place]] += 1
        self.chosen.add(place)
        self._novelty.keep(place)

    @property
    def store(self) -> tuple[str, ...]:
        return tuple(self.estimates.view.candidates[place].id for place in sorted(self.chosen))


class EstimatedGreedy:
    """Offline density greedy on estimates; ties go to the larger gain, then the cheaper."""

    name = "estimated_greedy"
    label = "Estimated greedy"
    about = f"offline density greedy on estimated values: {CUES}"
    peeks: Literal[False] = False
    monotone = False

    def __init__(self, values: Values = cue_values) -> None:
        self.values = values

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        draft = EstimatedDraft(estimated(view, budget, self.values))
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
            # The tuple holds negated numbers: a larger entry is a worse one, and is put back.
            if entry > heap[0]:
                heapreplace(heap, entry)
            else:
                draft.keep(place)
                heappop(heap)
        return draft.store


def _entry(draft: EstimatedDraft, place: int) -> tuple[float, float, int, int]:
    gain = draft.gain(place)
    return -draft.density(place, gain), -gain, draft.estimates.cost[place], place


MAX_THRESHOLDS = 64


class EstimatedGvt:
    """GVT as a product could run it: the same passes, with an estimator instead of labels."""

    name = "estimated_gvt"
    label = "Estimated GVT"
    about = f"GVT passes on estimated values: {CUES}"
    peeks: Literal[False] = False
    monotone = False

    def __init__(self, values: Values = cue_values) -> None:
        self.values = values

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        estimates = estimated(view, budget, self.values)
        best = EstimatedDraft(estimates)
        for threshold in threshold_grid(estimates):
            draft = threshold_pass(estimates, threshold)
            if (draft.value, -draft.cost) > (best.value, -best.cost):
                best = draft
        return best.store


def threshold_grid(estimates: Estimated) -> list[float]:
    """0 and the distinct estimated densities of candidates that fit alone, evenly thinned out."""
    empty = EstimatedDraft(estimates)
    places = [p for p, cost in enumerate(estimates.cost) if 0 < cost <= estimates.budget]
    grid = sorted({0.0} | {empty.density(p, empty.gain(p)) for p in places})
    # A pass reads the whole stream. Thinning keeps both ends: 0, at which everything that fits is
    # kept, and the highest density.
    if len(grid) <= MAX_THRESHOLDS:
        return grid
    last = len(grid) - 1
    return [grid[i * last // (MAX_THRESHOLDS - 1)] for i in range(MAX_THRESHOLDS)]


def threshold_pass(estimates: Estimated, threshold: float) -> EstimatedDraft:
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
                    # Of equals the cheaper, then the one that arrived first.
                    rank = (gain, -estimates.cost[place], -place)
                    if best is None or rank > best:
                        best = rank
            if best is None:
                break
            draft.keep(-best[2])
    return draft

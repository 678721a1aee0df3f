"""Choosing by marginal density: value per cost, ties by value, then lower cost, then larger id."""

from collections.abc import Iterable
from heapq import heapify, heappop, heapreplace

from memaudit.solvers.form import Form
from memaudit.writers.draft import Draft

Rank = tuple[bool, int, int, int, str]


def rank(draft: Draft, u: int) -> Rank | None:
    """Where a candidate stands now, higher is better; None if it adds nothing."""
    gain, cost = draft.gain(u), draft.form.cost[u]
    if gain <= 0:
        return None
    density = gain * (draft.common_cost // cost) if cost else 0
    return cost == 0, density, gain, -cost, draft.form.candidate_ids[u]


def densest(draft: Draft, candidates: Iterable[int]) -> int | None:
    """The candidate with the highest marginal density among those that fit."""
    ranked = [(rank(draft, u), u) for u in candidates if draft.fits(u)]
    found = [(place, u) for place, u in ranked if place is not None]
    return max(found)[1] if found else None


class _Entry:
    """A heap entry; the best rank comes first."""

    __slots__ = ("rank", "u")

    def __init__(self, rank: Rank, u: int) -> None:
        self.rank, self.u = rank, u

    def __lt__(self, other: "_Entry") -> bool:
        return self.rank > other.rank


def density_greedy(form: Form, candidates: Iterable[int]) -> Draft:
    """The densest marginal that fits, again and again, until nothing fits or helps.

    Marginals only fall and room only shrinks, so a rank that is still the best after being
    worked out again is the best of all.
    """
    draft = Draft(form)
    ranked = [(rank(draft, u), u) for u in candidates if draft.fits(u)]
    heap = [_Entry(place, u) for place, u in ranked if place is not None]
    heapify(heap)
    while heap:
        top = heap[0]
        place = rank(draft, top.u) if draft.fits(top.u) else None
        if place is None:
            heappop(heap)
        elif place < top.rank:
            heapreplace(heap, _Entry(place, top.u))
        else:
            draft.keep(top.u)
            heappop(heap)
    return draft

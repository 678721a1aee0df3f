"""A-MAC-style admission: a proxy for admission controllers, not the system itself."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.budgeted_store import BudgetedStore
from memaudit.writers.estimators.cue_prior import cue_worth
from memaudit.writers.estimators.lexical import LexicalNovelty, status_words
from memaudit.writers.protocol import View

TYPE_PRIOR = {
    "preference": 1.0,
    "rule": 0.9,
    "compound_update": 0.9,
    "fact": 0.8,
    "tombstone": 0.8,
    "plan": 0.7,
    "event": 0.7,
    "temporal_event": 0.7,
    "summary": 0.5,
    "raw": 0.2,
}
"""Lasting information counts more than what was merely said."""

OTHER_TYPE = 0.5

UTILITY, CONFIDENCE, NOVELTY, RECENCY, TYPE = 0.20, 0.15, 0.20, 0.10, 0.35
"""The weights of the five parts of a score. Every part is in [0, 1]; the weights add up to 1."""

LOWEST, HIGHEST = 0.5, 0.9
"""The threshold for an empty store and for a full one. A plain fact that is new and certain
scores about 0.7 and passes until the store is half full."""


class AMacStyle:
    """Admits what scores at least a threshold that rises as the budget fills; evicts nothing."""

    name = "amac_style"
    label = "A-MAC-style admission (proxy)"
    about = "admits by utility, confidence, novelty, recency and type; stricter as it fills"
    peeks: Literal[False] = False
    monotone = False

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        store = BudgetedStore(view, budget)
        # A budget above the total cost is no looser than the total cost.
        usable = min(budget, sum((c.cost for c in view.candidates), Fraction(0)))
        novelty = LexicalNovelty(tuple(status_words(c) for c in view.candidates))
        place = 0
        for step, group in enumerate(view.groups, start=1):
            places = range(place, place + len(group))
            place += len(group)
            recency = RECENCY * step / len(view.groups)
            fixed = {
                p: recency
                + UTILITY * cue_worth(c.text)
                + CONFIDENCE * (1.0 if c.confidence is None else float(c.confidence))
                + TYPE * TYPE_PRIOR.get(c.kind, OTHER_TYPE)
                for p, c in zip(places, group, strict=True)
            }
            for _ in range(view.group_cap):
                fitting = [p for p in places if store.fits(view.candidates[p])]
                if not fitting:
                    break
                scores = {p: fixed[p] + NOVELTY * novelty.share(p) for p in fitting}
                best = max(fitting, key=scores.__getitem__)  # the first of equals
                full = float((budget - store.left) / usable) if usable else 0.0
                if scores[best] < LOWEST + (HIGHEST - LOWEST) * full:
                    break
                store.keep(view.candidates[best])
                novelty.keep(best)
        return store.ids

"""Writers that keep raw turns or any feasible store: random, newest, reservoir sample."""

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from memaudit.lab.writers.protocol import BudgetedStore, View, VisibleCandidate


def shuffled(candidates: Iterable[VisibleCandidate], seed: int) -> list[VisibleCandidate]:
    """The candidates in the order of a hash of the seed and their place in the stream."""
    placed = list(enumerate(candidates))
    placed.sort(key=lambda item: hashlib.sha256(f"{seed} {item[0]}".encode()).digest())
    return [candidate for _, candidate in placed]


class RandomFeasible:
    """Walks all candidates in a random order and keeps what fits: the floor of every ranking."""

    name = "random_feasible"
    label = "Random feasible"
    about = "all candidates in a seeded random order, keeps what fits"
    peeks: Literal[False] = False
    monotone = True

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:
        store = BudgetedStore(view, budget)
        for candidate in shuffled(view.candidates, seed):
            if store.fits(candidate):
                store.keep(candidate)
        return store.ids


class RecencyRaw:
    """Walks raw spans from the newest to the oldest and keeps what fits."""

    name = "recency_raw"
    label = "Recency raw"
    about = "newest raw messages first, keeps what fits"
    peeks: Literal[False] = False
    monotone = True

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        store = BudgetedStore(view, budget)
        for candidate in reversed(view.candidates):
            if candidate.kind == "raw" and store.fits(candidate):
                store.keep(candidate)
        return store.ids


class ReservoirRaw:
    """Walks raw spans in a random order and keeps what fits."""

    name = "reservoir_raw"
    label = "Reservoir raw"
    about = "raw messages in a seeded random order, keeps what fits"
    peeks: Literal[False] = False
    monotone = True

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:
        store = BudgetedStore(view, budget)
        for candidate in shuffled((c for c in view.candidates if c.kind == "raw"), seed):
            if store.fits(candidate):
                store.keep(candidate)
        return store.ids

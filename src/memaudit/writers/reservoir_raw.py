"""Reservoir raw: a random sample of the messages, word for word."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.shelf import Shelf
from memaudit.writers.shuffled import shuffled
from memaudit.writers.view import View


class ReservoirRaw:
    """Walks raw spans in a random order and keeps what fits."""

    name = "reservoir_raw"
    label = "Reservoir raw"
    about = "raw messages in a seeded random order, keeps what fits"
    peeks: Literal[False] = False
    monotone = True

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:
        shelf = Shelf(view, budget)
        for candidate in shuffled((c for c in view.candidates if c.kind == "raw"), seed):
            if shelf.fits(candidate):
                shelf.keep(candidate)
        return shelf.store

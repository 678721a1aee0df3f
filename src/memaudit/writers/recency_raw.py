"""Recency raw: the newest messages, word for word, as many as fit."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.shelf import Shelf
from memaudit.writers.view import View


class RecencyRaw:
    """Walks raw spans from the newest to the oldest and keeps what fits."""

    name = "recency_raw"
    label = "Recency raw"
    about = "newest raw messages first, keeps what fits"
    peeks: Literal[False] = False
    monotone = True

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        shelf = Shelf(view, budget)
        for candidate in reversed(view.candidates):
            if candidate.kind == "raw" and shelf.fits(candidate):
                shelf.keep(candidate)
        return shelf.store

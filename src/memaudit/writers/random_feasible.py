"""Random feasible: anything that fits, in a random order. It needs no peeking, so it does not."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.shelf import Shelf
from memaudit.writers.shuffled import shuffled
from memaudit.writers.view import View


class RandomFeasible:
    """Walks all candidates in a random order and keeps what fits: the floor of every ranking."""

    name = "random_feasible"
    label = "Random feasible"
    about = "all candidates in a seeded random order, keeps what fits"
    peeks: Literal[False] = False
    monotone = True

    def write(self, view: View, budget: Fraction, seed: int) -> tuple[str, ...]:
        shelf = Shelf(view, budget)
        for candidate in shuffled(view.candidates, seed):
            if shelf.fits(candidate):
                shelf.keep(candidate)
        return shelf.store

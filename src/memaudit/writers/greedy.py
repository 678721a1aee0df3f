"""Offline greedy: all candidates at once, the densest marginal first."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.density import density_greedy
from memaudit.writers.oracle import OracleView


class Greedy:
    """Keeps the candidate with the highest marginal density until nothing fits or helps."""

    name = "greedy"
    label = "Offline greedy"
    about = "over the whole stream, the densest marginal first"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        form = view.at(budget)
        return density_greedy(form, range(len(form.cost))).store

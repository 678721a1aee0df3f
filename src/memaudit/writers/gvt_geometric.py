"""GVT on a geometric grid, to which the paper's guarantee applies."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.oracle import OracleView
from memaudit.writers.thresholds import best_pass, geometric_grid


class GvtGeometric:
    """At least (1 - eps) OPT / 4 wherever every candidate costs more than 0 and at most B / 2."""

    name = "gvt_geometric"
    label = "GVT, geometric grid"
    about = "GVT whose thresholds fall by a constant factor; scales to long streams"
    peeks: Literal[True] = True
    monotone = False

    def __init__(self, eps: Fraction = Fraction(1, 10)) -> None:
        self.eps = eps

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        form = view.at(budget)
        return best_pass(form, geometric_grid(form, self.eps)).store

"""GVT, the paper's calibration reference, with the published grid."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.oracle import OracleView
from memaudit.writers.thresholds import best_pass, singleton_grid


class Gvt:
    """The best of one streaming pass per threshold; the grid holds every singleton density."""

    name = "gvt"
    label = "GVT"
    about = "grouped value-threshold: each group keeps its largest marginal above a bar; best bar"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        form = view.at(budget)
        return best_pass(form, singleton_grid(form)).store

"""OPT as a row among writers: what the certified optimum keeps."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.oracle import OracleView


class Opt:
    """The certified optimum itself; the line every ratio is measured against."""

    name = "opt"
    label = "OPT"
    about = "the certified optimum"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        return view.best_store(budget)

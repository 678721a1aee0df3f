"""Generic-candidate OPT: what a generator of plain spans, facts and summaries makes possible."""

from fractions import Fraction
from typing import Literal

from memaudit.writers.oracle import OracleView

GENERIC_KINDS = frozenset({"raw", "fact", "summary"})


class GenericOpt:
    """The certified optimum over raw spans, facts and summaries: a loss of candidate generation."""

    name = "generic_opt"
    label = "Generic-candidate OPT"
    about = "certified optimum when only raw spans, facts and summaries are offered"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        return view.part("generic", GENERIC_KINDS.__contains__).best_store(budget)

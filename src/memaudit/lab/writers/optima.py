"""Certified optima as writers: full, generic candidates only, and without tombstones."""

from fractions import Fraction
from typing import Literal

from memaudit.kernel.package.package import INVALIDATING_KINDS
from memaudit.lab.writers.gvt import Gvt
from memaudit.lab.writers.protocol import OracleView


class Opt:
    """The certified optimum: the denominator of every ratio."""

    name = "opt"
    label = "OPT"
    about = "the certified optimum"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        return view.best_store(budget)


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


def without_tombstones(view: OracleView) -> OracleView:
    """The package as if its generator offered no invalidating candidates."""
    return view.part("no tombstones", lambda kind: kind not in INVALIDATING_KINDS)


class NoTombstoneOpt:
    """The certified optimum of the package without invalidating candidates: a frontier loss."""

    name = "no_tombstone_opt"
    label = "No-tombstone OPT"
    about = "certified optimum when tombstones and compound updates are not offered"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:  # noqa: ARG002
        return without_tombstones(view).best_store(budget)


class NoTombstoneGvt:
    """GVT on the package without invalidating candidates."""

    name = "no_tombstone_gvt"
    label = "No-tombstone GVT"
    about = "GVT when tombstones and compound updates are not offered"
    peeks: Literal[True] = True
    monotone = False

    def write(self, view: OracleView, budget: Fraction, seed: int) -> tuple[str, ...]:
        return Gvt().write(without_tombstones(view), budget, seed)

"""Reference writers: the optimum itself, and stores of raw turns."""

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from memaudit.kernel.package.package import INVALIDATING_KINDS
from memaudit.lab.sweeps.writers.gvt import Gvt
from memaudit.lab.sweeps.writers.protocol import BudgetedStore, OracleView, View, VisibleCandidate


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

"""Scores under variants beside the base: ratios with intervals, and whether rankings survive."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from memaudit.core.exact import plain
from memaudit.core.number_text import rounded
from memaudit.core.optimum import Optimum
from memaudit.core.package import Package
from memaudit.scoring.judged_store import WrittenStore
from memaudit.scoring.pruning import pruned
from memaudit.scoring.score import Basis, Ratio
from memaudit.scoring.sensitivity_variants import Variant
from memaudit.scoring.store_scores import StoreScorer
from memaudit.stats.bootstrap import outer_percentiles
from memaudit.stats.rank_correlation import Tau, exact_kendall

BASIS: Basis = "common union"
FITS = "everything fits"
RECENCY = "cut by recency"


@dataclass(frozen=True, slots=True)
class SensitivityRow:
    """One store at one budget: ratios of what it keeps and of the best it could keep.

    None is undefined: an optimum is 0 or not certified. Proofs are not kept, many rows are.
    """

    store: str
    budget: Fraction
    kept_by: str
    kept: Fraction | None
    upper: Fraction | None
    uncertified: int


def sensitivity_rows(
    package: Package,
    stores: Sequence[WrittenStore],
    budgets: Sequence[Fraction],
    group_cap: int | None = None,
    seconds: float | None = None,
) -> list[SensitivityRow]:
    """Every store at every budget. A store that fits is kept whole, else the newest that fit."""
    audit = StoreScorer(package, stores, group_cap, seconds)
    return [_one(audit, store, budget) for budget in budgets for store in audit.stores]


def _one(audit: StoreScorer, store: WrittenStore, budget: Fraction) -> SensitivityRow:
    fits = store.cost <= budget
    kept = store.candidate_ids if fits else pruned(store, budget, "recency") or ()
    value = audit.scorer.score(kept).value
    common, upper = audit.common_optimum(budget), audit.upper_optimum(store, budget)
    return ratio_row(store.name, budget, FITS if fits else RECENCY, value, common, upper)


def ratio_row(
    store: str, budget: Fraction, kept_by: str, value: Fraction, common: Optimum, upper: Optimum
) -> SensitivityRow:
    """The ratios of a kept value and of an upper bound, as far as optima are proven."""
    return SensitivityRow(
        store=store,
        budget=budget,
        kept_by=kept_by,
        kept=Ratio(value, common, BASIS).value,
        upper=Ratio(upper.value, common, BASIS).value if upper.certified else None,
        uncertified=sum(not one.certified for one in (common, upper)),
    )


Value = Callable[[SensitivityRow], Fraction | None]
Runs = Mapping[str, Sequence[Sequence[SensitivityRow]]]
"""By variant, its repetitions; the first variant is the base."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A ratio over repetitions; those where it is undefined are counted by what `n` lacks."""

    n: int
    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Survival:
    """Kendall's tau-b of a ranking of systems against the base, over repetitions.

    Only systems with both ratios are ranked. `n` counts repetitions with a tau.
    """

    n: int
    tau: float | None
    lowest: float | None
    same_order: int


@dataclass(frozen=True, slots=True)
class StoreSpread:
    """One store under one variant."""

    store: str
    kept_by: tuple[str, ...]
    kept: Spread
    upper: Spread


@dataclass(frozen=True, slots=True)
class Finding:
    """One variant at one budget."""

    variant: str
    budget: Fraction
    repetitions: int
    stores: tuple[StoreSpread, ...]
    kept_ranking: Survival
    upper_ranking: Survival
    uncertified: int


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two rankings of the same stores at one budget; None where one of them orders nothing."""

    first: str
    second: str
    budget: Fraction
    kept_tau: float | None
    upper_tau: float | None
    same_kept_order: bool


def variant_runs(
    tried: Iterable[Variant], budgets: Sequence[Fraction], seconds: float | None = None
) -> Runs:
    """Every variant measured, draws of one noise together."""
    runs: dict[str, list[list[SensitivityRow]]] = {}
    for one in tried:
        found = sensitivity_rows(one.package, one.stores, budgets, one.group_cap, seconds)
        runs.setdefault(one.name, []).append(found)
    return runs


def findings(runs: Runs, budgets: Sequence[Fraction]) -> list[Finding]:
    """Every variant at every budget, against the first variant."""
    if not runs:
        return []
    (base, *_) = next(iter(runs.values()))
    return [
        _finding(name, budget, [_at(run, budget) for run in repeated], _at(base, budget))
        for budget in budgets
        for name, repeated in runs.items()
    ]


def pairings(
    runs: Runs, variant_of: Mapping[str, str], budgets: Sequence[Fraction]
) -> list[Pairing]:
    """The rankings of several judges against each other, each by its variant."""
    return [
        _pairing(
            first, second, budget,
            *(_at(runs[variant_of[name]][0], budget) for name in (first, second)),
        )
        for budget in budgets
        for first, second in combinations(variant_of, 2)
    ]  # fmt: skip


def _pairing(
    first: str,
    second: str,
    budget: Fraction,
    one: Sequence[SensitivityRow],
    other: Sequence[SensitivityRow],
) -> Pairing:
    kept = _tau(one, other, lambda row: row.kept)
    upper = _tau(one, other, lambda row: row.upper)
    return Pairing(first, second, budget, kept.value, upper.value, kept.same_order)


def _at(run: Sequence[SensitivityRow], budget: Fraction) -> list[SensitivityRow]:
    return [one for one in run if one.budget == budget]


def _finding(
    name: str,
    budget: Fraction,
    runs: Sequence[Sequence[SensitivityRow]],
    base: Sequence[SensitivityRow],
) -> Finding:
    return Finding(
        variant=name,
        budget=budget,
        repetitions=len(runs),
        stores=tuple(
            StoreSpread(
                column[0].store,
                tuple(sorted({one.kept_by for one in column})),
                spread([one.kept for one in column]),
                spread([one.upper for one in column]),
            )
            for column in zip(*runs, strict=True)
        ),
        kept_ranking=_survival(runs, base, lambda one: one.kept),
        upper_ranking=_survival(runs, base, lambda one: one.upper),
        uncertified=sum(one.uncertified for run in runs for one in run),
    )


def spread(values: Sequence[Fraction | None]) -> Spread:
    """The mean and the interval of the values that are defined."""
    there = [float(value) for value in values if value is not None]
    if not there:
        return Spread(0, None, None, None)
    return Spread(len(there), float(np.mean(there)), *outer_percentiles(there))


def _survival(
    runs: Sequence[Sequence[SensitivityRow]], base: Sequence[SensitivityRow], value: Value
) -> Survival:
    found = [tau for run in runs if (tau := _tau(base, run, value)).value is not None]
    taus = [tau.value for tau in found if tau.value is not None]
    return Survival(
        n=len(taus),
        tau=sum(taus) / len(taus) if taus else None,
        lowest=min(taus, default=None),
        same_order=sum(tau.same_order for tau in found),
    )


def _tau(base: Sequence[SensitivityRow], run: Sequence[SensitivityRow], value: Value) -> Tau:
    """Against the base, over the stores that have a ratio in both."""
    first: list[Fraction] = []
    second: list[Fraction] = []
    for one, other in zip(base, run, strict=True):
        a, b = value(one), value(other)
        if a is not None and b is not None:
            first.append(a)
            second.append(b)
    return exact_kendall(first, second)


DIGITS = 9


def finding_row(found: Finding) -> dict[str, Any]:
    """One variant at one budget."""
    return {
        "variant": found.variant,
        "budget": plain(found.budget),
        "repetitions": found.repetitions,
        "stores": [
            {
                "store": one.store,
                "kept_by": list(one.kept_by),
                "kept": _spread(one.kept),
                "upper_pruned": _spread(one.upper),
            }
            for one in found.stores
        ],
        "kept_ranking": _rows_survival(found.kept_ranking),
        "upper_pruned_ranking": _rows_survival(found.upper_ranking),
        "uncertified_optima": found.uncertified,
    }


def pairing_row(found: Pairing) -> dict[str, Any]:
    """Two judges at one budget."""
    return {
        "first": found.first,
        "second": found.second,
        "budget": plain(found.budget),
        "kept_tau_b": rounded(found.kept_tau),
        "upper_pruned_tau_b": rounded(found.upper_tau),
        "same_kept_order": found.same_kept_order,
    }


def _spread(one: Spread) -> dict[str, Any]:
    return {
        "mean": rounded(one.mean), "low": rounded(one.low), "high": rounded(one.high),
        "defined": one.n,
    }  # fmt: skip


def _rows_survival(one: Survival) -> dict[str, Any]:
    return {
        "tau_b": rounded(one.tau), "lowest_tau_b": rounded(one.lowest),
        "same_order": one.same_order, "defined": one.n,
    }  # fmt: skip

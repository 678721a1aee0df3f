"""Scores under variants beside the base: ratios with intervals, and whether rankings survive.

Ratios are over OPT of the common union: rankings need one denominator for all systems. Packages
are the repetitions of a variant, and an interval holds the middle 95 % of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from memaudit.kernel.exact import plain
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.pruning import Policy, keep_within
from memaudit.kernel.score.score import Basis, Ratio, StoreScorer
from memaudit.kernel.stats.bootstrap import outer_percentiles
from memaudit.lab.studies.rank_correlation import Tau, exact_kendall

BASIS: Basis = "common union"
BASE = "base"


@dataclass(frozen=True, slots=True)
class Variant:
    """The same stores scored otherwise."""

    name: str
    package: Package
    stores: tuple[JudgedStore, ...]
    group_cap: int | None = None


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
    over_package: Fraction | None
    """What it keeps over OPT of the package alone."""
    optimum: Fraction | None
    """OPT of the common union."""
    package_optimum: Fraction | None
    uncertified: int
    assumed: Fraction = Fraction(0)
    """The larger of the shares of OPT and of what is kept that rest on assumed cells."""


def sensitivity_rows(
    package: Package,
    stores: Sequence[JudgedStore],
    budgets: Sequence[Fraction],
    group_cap: int | None = None,
    seconds: float | None = None,
    policy: Policy | None = None,
    threads: int | None = None,
) -> list[SensitivityRow]:
    """Every store at every budget. A store that fits is kept whole, else what a policy keeps."""
    scorer = StoreScorer(package, stores, group_cap, seconds, threads)
    rows = []
    for budget in budgets:
        for store in scorer.stores:
            kept = keep_within(store, budget, policy)
            part, common = scorer.worth(store, kept.ids), scorer.common_optimum(budget)
            upper, own = scorer.alone_optimum(store, budget), scorer.package_optimum(budget)
            row = sensitivity_row(store.name, budget, kept.kept_by, part.value, common, upper, own)
            rows.append(replace(row, assumed=max(common.assumed, part.assumed)))
    return rows


def sensitivity_row(
    store: str,
    budget: Fraction,
    kept_by: str,
    value: Fraction,
    common: Optimum,
    upper: Optimum,
    own: Optimum,
) -> SensitivityRow:
    """The ratios of a kept value and of an upper bound, where optima are proven."""
    return SensitivityRow(
        store=store,
        budget=budget,
        kept_by=kept_by,
        kept=Ratio(value, common, BASIS).value,
        upper=Ratio(upper.value, common, BASIS).value if upper.certified else None,
        over_package=Ratio(value, own).value,
        optimum=common.value if common.certified else None,
        package_optimum=own.value if own.certified else None,
        uncertified=sum(not optimum.certified for optimum in (common, upper)),
    )


RatioOf = Callable[[SensitivityRow], Fraction | None]
VariantRuns = Mapping[str, Sequence[Sequence[SensitivityRow]]]
"""By variant, its repetitions on one package; the first variant is the base."""
Compared = tuple[Sequence[SensitivityRow], Sequence[SensitivityRow]]
"""The base and a repetition of a variant, on the same package and at the same budget."""


@dataclass(frozen=True, slots=True)
class RatioSpread:
    """A ratio over repetitions; those where it is undefined are counted by what `n` lacks."""

    n: int
    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class RankSurvival:
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
    kept: RatioSpread
    upper: RatioSpread
    over_package: RatioSpread


@dataclass(frozen=True, slots=True)
class OptimumSpread:
    """An optimum under one variant: its mean, and the mean of its ratios to the base's."""

    value: RatioSpread
    over_base: RatioSpread


@dataclass(frozen=True, slots=True)
class VariantFinding:
    """One variant at one budget."""

    variant: str
    budget: Fraction
    repetitions: int
    stores: tuple[StoreSpread, ...]
    kept_ranking: RankSurvival
    upper_ranking: RankSurvival
    union: OptimumSpread
    package: OptimumSpread
    uncertified: int


@dataclass(frozen=True, slots=True)
class JudgePairing:
    """Two rankings of the same stores at one budget; None where one of them orders nothing."""

    first: str
    second: str
    budget: Fraction
    kept_tau: float | None
    upper_tau: float | None
    same_kept_order: bool


def variant_runs(
    tried: Iterable[Variant],
    budgets: Sequence[Fraction],
    seconds: float | None = None,
    policy: Policy | None = None,
    threads: int | None = None,
) -> dict[str, list[list[SensitivityRow]]]:
    """Every variant measured."""
    runs: dict[str, list[list[SensitivityRow]]] = {}
    for variant in tried:
        rows = sensitivity_rows(
            variant.package, variant.stores, budgets, variant.group_cap, seconds, policy, threads
        )
        runs.setdefault(variant.name, []).append(rows)
    return runs


def variant_findings(
    packages: Sequence[VariantRuns], budgets: Sequence[Fraction]
) -> list[VariantFinding]:
    """Every variant at every budget, against the first variant of the same package.

    Repetitions on several packages count alike.
    """
    names = dict.fromkeys(name for runs in packages for name in runs)
    return [
        _finding(name, budget, list(_compared(packages, name, budget)))
        for budget in budgets
        for name in names
    ]


def _compared(packages: Sequence[VariantRuns], name: str, budget: Fraction) -> Iterator[Compared]:
    for runs in packages:
        # The first variant is the base; it is measured once per package.
        (base, *_) = next(iter(runs.values()))
        for run in runs.get(name, ()):
            yield _at(base, budget), _at(run, budget)


def judge_pairings(
    packages: Sequence[VariantRuns], variant_of: Mapping[str, str], budgets: Sequence[Fraction]
) -> list[JudgePairing]:
    """The rankings of several judges against each other, each by its variant.

    Of several packages, the mean of every tau, and whether the order is the same on all of them.
    """
    pairings = []
    for budget in budgets:
        for first, second in combinations(variant_of, 2):
            both = [
                [_at(runs[variant_of[name]][0], budget) for name in (first, second)]
                for runs in packages
            ]
            kept = [_tau(rows, others, lambda row: row.kept) for rows, others in both]
            upper = [_tau(rows, others, lambda row: row.upper) for rows, others in both]
            same = all(tau.same_order for tau in kept)
            pairings.append(
                JudgePairing(first, second, budget, _mean_tau(kept), _mean_tau(upper), same)
            )
    return pairings


def _mean_tau(taus: Sequence[Tau]) -> float | None:
    defined = [tau.value for tau in taus if tau.value is not None]
    return sum(defined) / len(defined) if defined else None


def _at(run: Sequence[SensitivityRow], budget: Fraction) -> list[SensitivityRow]:
    return [row for row in run if row.budget == budget]


def _finding(name: str, budget: Fraction, compared: Sequence[Compared]) -> VariantFinding:
    by_store: dict[str, list[SensitivityRow]] = {}
    for _, run in compared:
        for row in run:
            by_store.setdefault(row.store, []).append(row)
    return VariantFinding(
        variant=name,
        budget=budget,
        repetitions=len(compared),
        stores=tuple(
            StoreSpread(
                store,
                tuple(sorted({row.kept_by for row in rows})),
                spread([row.kept for row in rows]),
                spread([row.upper for row in rows]),
                spread([row.over_package for row in rows]),
            )
            for store, rows in by_store.items()
        ),
        kept_ranking=_survival(compared, lambda row: row.kept),
        upper_ranking=_survival(compared, lambda row: row.upper),
        union=_optimum(compared, lambda row: row.optimum),
        package=_optimum(compared, lambda row: row.package_optimum),
        uncertified=sum(row.uncertified for _, run in compared for row in run),
    )


def _optimum(compared: Sequence[Compared], value: RatioOf) -> OptimumSpread:
    """All stores of a package share its optima, so the first row speaks for it."""
    optima = [(value(base[0]), value(run[0])) for base, run in compared if base and run]
    return OptimumSpread(
        spread([here for _, here in optima]),
        spread([here / base for base, here in optima if base and here is not None]),
    )


def spread(values: Sequence[Fraction | None]) -> RatioSpread:
    """The mean and the interval of the values that are defined."""
    defined = [float(value) for value in values if value is not None]
    if not defined:
        return RatioSpread(0, None, None, None)
    return RatioSpread(len(defined), float(np.mean(defined)), *outer_percentiles(defined))


def _survival(compared: Sequence[Compared], value: RatioOf) -> RankSurvival:
    all_taus = [_tau(base, run, value) for base, run in compared]
    taus = [tau.value for tau in all_taus if tau.value is not None]
    return RankSurvival(
        n=len(taus),
        tau=_mean_tau(all_taus),
        lowest=min(taus, default=None),
        same_order=sum(tau.same_order for tau in all_taus if tau.value is not None),
    )


def _tau(base: Sequence[SensitivityRow], run: Sequence[SensitivityRow], value: RatioOf) -> Tau:
    """Against the base, over the stores that have a ratio in both."""
    first: list[Fraction] = []
    second: list[Fraction] = []
    for in_base, in_run in zip(base, run, strict=True):
        before, after = value(in_base), value(in_run)
        if before is not None and after is not None:
            first.append(before)
            second.append(after)
    return exact_kendall(first, second)


def finding_row(finding: VariantFinding) -> dict[str, Any]:
    """One variant at one budget, as JSON."""
    return {
        "variant": finding.variant,
        "budget": plain(finding.budget),
        "repetitions": finding.repetitions,
        "stores": [
            {
                "store": store.store,
                "kept_by": list(store.kept_by),
                "score": _spread_row(store.kept),
                "best_subset": _spread_row(store.upper),
                "over_package": _spread_row(store.over_package),
            }
            for store in finding.stores
        ],
        "score_ranking": _survival_row(finding.kept_ranking),
        "best_subset_ranking": _survival_row(finding.upper_ranking),
        "union_optimum": _spread_row(finding.union.value),
        "union_optimum_over_base": _spread_row(finding.union.over_base),
        "package_optimum": _spread_row(finding.package.value),
        "package_optimum_over_base": _spread_row(finding.package.over_base),
        "uncertified_optima": finding.uncertified,
    }


def pairing_row(pairing: JudgePairing) -> dict[str, Any]:
    """Two judges at one budget, as JSON."""
    return {
        "first": pairing.first,
        "second": pairing.second,
        "budget": plain(pairing.budget),
        "score_tau_b": rounded(pairing.kept_tau),
        "best_subset_tau_b": rounded(pairing.upper_tau),
        "same_kept_order": pairing.same_kept_order,
    }


def _spread_row(spread: RatioSpread) -> dict[str, Any]:
    return {
        "mean": rounded(spread.mean),
        "low": rounded(spread.low),
        "high": rounded(spread.high),
        "defined": spread.n,
    }


def _survival_row(survival: RankSurvival) -> dict[str, Any]:
    return {
        "tau_b": rounded(survival.tau),
        "lowest_tau_b": rounded(survival.lowest),
        "same_order": survival.same_order,
        "defined": survival.n,
    }

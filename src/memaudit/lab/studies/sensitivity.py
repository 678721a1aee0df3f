"""Scores under other judges, cost rules and group caps beside the base, and whether ranks survive.

Ratios are over OPT of the common union: rankings need one denominator for all systems. Packages
are the repetitions of a variant, and an interval holds the middle 95 % of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.packages import PlaceOfPackage
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.cost import UNICODE_WORDS, cost_rule
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.caveats import caveat_lines, store_data
from memaudit.kernel.score.judge import Judge, NotJudged
from memaudit.kernel.score.judging import judge_candidates, judge_store
from memaudit.kernel.score.package_scores import apply_overrides, why_not_scored, written_for
from memaudit.kernel.score.priced_store import DOCUMENT, MEMORY, OWN_SALIENCE, JudgedStore, Salience
from memaudit.kernel.score.pruning import Policy, keep_within
from memaudit.kernel.score.score import Basis, Ratio, StoreScorer
from memaudit.kernel.score.store_match import fed_part
from memaudit.kernel.stats.bootstrap import outer_percentiles
from memaudit.lab.studies.rank_correlation import exact_kendall

BASIS: Basis = "common union"
BASE = "base"
USUAL_RULES = ("words", "bytes", "tokens:simple")
USUAL_CAPS = (1, 2, 3)


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
    assumed: Fraction
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
            part = scorer.worth(store, kept.ids)
            common, own = scorer.common_optimum(budget), scorer.package_optimum(budget)
            upper = scorer.alone_optimum(store, budget)
            row = SensitivityRow(
                store=store.name,
                budget=budget,
                kept_by=kept.kept_by,
                kept=Ratio(part.value, common, BASIS).value,
                upper=Ratio(upper.value, common, BASIS).value if upper.certified else None,
                over_package=Ratio(part.value, own).value,
                optimum=_proven(common),
                package_optimum=_proven(own),
                uncertified=sum(not optimum.certified for optimum in (common, upper)),
                assumed=max(common.assumed, part.assumed),
            )
            rows.append(row)
    return rows


def _proven(optimum: Optimum) -> Fraction | None:
    return optimum.value if optimum.certified else None


@dataclass(frozen=True, slots=True)
class Variant:
    """The same stores scored otherwise."""

    name: str
    package: Package
    stores: tuple[JudgedStore, ...]
    group_cap: int | None = None


Judged = tuple[Package, tuple[JudgedStore, ...]]
"""A package and its stores as one judge sees them."""


def variants(
    judged: Mapping[str, Judged],
    cost_rules: Sequence[str] | None = None,
    group_caps: Sequence[int] = USUAL_CAPS,
    group_cap: int | None = None,
) -> Iterator[Variant]:
    """The base, by the first judge, then every other judge, cost rule and group cap."""
    (package, stores), *_ = judged.values()
    for place, (name, (judged_package, by)) in enumerate(judged.items()):
        yield Variant(f"judge {name}" if place else BASE, judged_package, by, group_cap)
    # Words and simple tokens count a text without spaces as one.
    usual = ("bytes",) if package.cost_rule == UNICODE_WORDS else USUAL_RULES
    for rule in usual if cost_rules is None else cost_rules:
        if rule != package.cost_rule:
            measured = tuple(measured_by(rule, store) for store in stores)
            yield Variant(f"cost {rule}", package.recost(rule), measured, group_cap)
    for cap in group_caps:
        # The base has this cap already.
        if cap != (package.group_cap if group_cap is None else group_cap):
            yield Variant(f"k = {cap}", package, stores, cap)


def measured_by(rule: str, store: JudgedStore) -> JudgedStore:
    """A store with its costs measured by another rule."""
    measure = cost_rule(rule)
    return replace(
        store,
        memories=tuple(
            replace(memory, cost=Fraction(measure(memory.text, MEMORY, memory.metadata)))
            for memory in store.memories
        ),
        documents=tuple(
            replace(document, cost=Fraction(measure(document.text, DOCUMENT)))
            for document in store.documents
        ),
    )


@dataclass(frozen=True, slots=True)
class SensitivityPlan:
    """The stores, the judges, of which the first is the base, and what else is varied."""

    stores: tuple[ExportedStore, ...]
    judges: tuple[Judge, ...]
    budgets: tuple[Fraction, ...]
    cost_rules: tuple[str, ...] | None = None
    """To try; words, bytes and simple tokens if not given, bytes alone if texts have no spaces.

    Budgets keep their numbers under every rule, as in the paper's appendix: a budget of 100 is 100
    words, or 100 of the units that `bytes` counts.
    """
    group_caps: tuple[int, ...] = USUAL_CAPS
    group_cap: int | None = None
    seconds: float | None = None
    stores_only: bool = False
    many: bool = False
    """Whether there are several packages: then a store need not be written for each."""
    policy: Policy | None = None
    salience: Salience = OWN_SALIENCE
    threads: int | None = None

    def __post_init__(self) -> None:
        if any(cap < 1 for cap in self.group_caps):
            raise MemAuditError("a group cap must be at least 1")


Runs = Mapping[str, Sequence[SensitivityRow]]
"""By variant, its rows on one package; the first variant is the base."""


@dataclass(frozen=True, slots=True)
class PackageSensitivity:
    """The rows of every variant; or why there are none."""

    package: str
    runs: Runs = field(default_factory=dict)
    stores: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By judge, the stores and what is not seen of them."""
    caveats: tuple[str, ...] = ()
    not_scored: str = ""

    @property
    def assumed(self) -> Fraction:
        """The largest share of OPT or of a store that rests on assumed cells."""
        return max((row.assumed for row in self.runs.get(BASE, ())), default=Fraction(0))


def sensitivity_at(plan: SensitivityPlan, place: PlaceOfPackage) -> PackageSensitivity:
    """Measure every variant of a package."""
    package = apply_overrides(place.read(), None, plan.stores_only)
    # With one package a store that was not written for it is an error, with several it is a gap.
    if not plan.many:
        return _measured(plan, package, plan.stores)
    own = written_for(package, plan.stores)
    if why := why_not_scored(package, own):
        return PackageSensitivity(package.name, not_scored=why)
    try:
        return _measured(plan, package, [store for store in plan.stores if store.name in own])
    except NotJudged as reason:
        return PackageSensitivity(package.name, not_scored=str(reason))


def _measured(
    plan: SensitivityPlan, given: Package, stores: Sequence[ExportedStore]
) -> PackageSensitivity:
    part = fed_part(given, stores)
    judged = {
        judge.name: (
            judge_candidates(part.package, judge),
            tuple(
                judge_store(part.package, store, judge, plan.salience).without_units(part.left_out)
                for store in stores
            ),
        )
        for judge in plan.judges
    }
    tried = variants(judged, plan.cost_rules, plan.group_caps, plan.group_cap)
    options = (plan.seconds, plan.policy, plan.threads)
    return PackageSensitivity(
        given.name,
        {
            variant.name: sensitivity_rows(
                variant.package, variant.stores, plan.budgets, variant.group_cap, *options
            )
            for variant in tried
        },
        {
            name: [store_data(store, side.caveats) for store, side in zip(stores, by, strict=True)]
            for name, (_, by) in judged.items()
        },
        tuple(
            line if len(judged) == 1 else f"{name}: {line}"
            for name, (_, by) in judged.items()
            for line in caveat_lines([(store.name, store.caveats) for store in by])
        ),
    )


RatioOf = Callable[[SensitivityRow], Fraction | None]
Compared = tuple[Sequence[SensitivityRow], Sequence[SensitivityRow]]
"""The base and a variant, on the same package and at the same budget."""


def findings(packages: Sequence[Runs], budgets: Sequence[Fraction]) -> list[dict[str, Any]]:
    """Every variant at every budget, against the base of the same packages, as data."""
    names = dict.fromkeys(name for runs in packages for name in runs)
    rows = []
    for budget in budgets:
        for name in names:
            compared = [
                (_at(runs[BASE], budget), _at(runs[name], budget))
                for runs in packages
                if name in runs
            ]
            rows.append({"variant": name, "budget": plain(budget), **_finding(compared)})
    return rows


def _at(run: Sequence[SensitivityRow], budget: Fraction) -> list[SensitivityRow]:
    return [row for row in run if row.budget == budget]


def _finding(compared: Sequence[Compared]) -> dict[str, Any]:
    by_store: dict[str, list[SensitivityRow]] = {}
    for _, run in compared:
        for row in run:
            by_store.setdefault(row.store, []).append(row)
    return {
        "repetitions": len(compared),
        "stores": [
            {
                "store": store,
                "kept_by": sorted({row.kept_by for row in rows}),
                "score": spread([row.kept for row in rows]),
                "best_subset": spread([row.upper for row in rows]),
                "over_package": spread([row.over_package for row in rows]),
            }
            for store, rows in by_store.items()
        ],
        "score_ranking": _survival(compared, lambda row: row.kept),
        "best_subset_ranking": _survival(compared, lambda row: row.upper),
        **_optima("union_optimum", compared, lambda row: row.optimum),
        **_optima("package_optimum", compared, lambda row: row.package_optimum),
        "uncertified_optima": sum(row.uncertified for _, run in compared for row in run),
    }


def _optima(name: str, compared: Sequence[Compared], value: RatioOf) -> dict[str, Any]:
    """An optimum under a variant: its mean, and the mean of its ratios to the base's."""
    # All stores of a package share its optima, so the first row speaks for it.
    optima = [(value(base[0]), value(run[0])) for base, run in compared if base and run]
    over_base = [here / base for base, here in optima if base and here is not None]
    return {name: spread([here for _, here in optima]), f"{name}_over_base": spread(over_base)}


def spread(values: Sequence[Fraction | None]) -> dict[str, Any]:
    """The mean and the interval of the values that are defined, and how many these are."""
    defined = [float(value) for value in values if value is not None]
    low, high = outer_percentiles(defined) if defined else (None, None)
    mean = sum(defined) / len(defined) if defined else None
    return {
        "mean": rounded(mean),
        "low": rounded(low),
        "high": rounded(high),
        "defined": len(defined),
    }


def _survival(compared: Sequence[Compared], value: RatioOf) -> dict[str, Any]:
    """Kendall's tau-b of a ranking of stores against the base: its mean over packages.

    Only stores with both ratios are ranked. `defined` counts packages with a tau.
    """
    taus = []
    for base, run in compared:
        pairs = [(value(before), value(after)) for before, after in zip(base, run, strict=True)]
        ranked = [(a, b) for a, b in pairs if a is not None and b is not None]
        tau = exact_kendall([a for a, _ in ranked], [b for _, b in ranked])
        if tau.value is not None:
            taus.append((tau.value, tau.same_order))
    values = [value for value, _ in taus]
    return {
        "tau_b": rounded(sum(values) / len(values) if values else None),
        "lowest_tau_b": rounded(min(values, default=None)),
        "same_order": sum(same for _, same in taus),
        "defined": len(taus),
    }

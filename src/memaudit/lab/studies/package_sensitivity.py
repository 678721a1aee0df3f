"""One package under other judges, views, cost rules and group caps: what an engine runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

from memaudit.building.named_packages import contents_of
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import content_digest
from memaudit.kernel.io.packages import PackagePlace, PlaceOfPackage
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.cost import UNICODE_WORDS, cost_rule
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.caveats import caveat_lines, store_data
from memaudit.kernel.score.judge import Judge, NotJudged
from memaudit.kernel.score.judged_store import judge_store
from memaudit.kernel.score.package_scores import apply_overrides, why_not_scored, written_for
from memaudit.kernel.score.priced_store import DOCUMENT, MEMORY, OWN_SALIENCE, JudgedStore, Salience
from memaudit.kernel.score.pruning import Policy
from memaudit.kernel.score.rejudge_package import judge_candidates
from memaudit.kernel.score.store_match import fed_part
from memaudit.lab.studies.sensitivity import BASE, SensitivityRow, Variant, variant_runs
from memaudit.workspace.typed_json import to_json

USUAL_RULES = ("words", "bytes", "tokens:simple")
USUAL_CAPS = (1, 2, 3)


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
    views: Mapping[str, Sequence[ExportedStore]] = field(default_factory=dict)
    many: bool = False
    """Whether there are several packages: then a store need not be written for each."""
    policy: Policy | None = None
    salience: Salience = OWN_SALIENCE
    threads: int | None = None

    def __post_init__(self) -> None:
        if any(cap < 1 for cap in self.group_caps):
            raise MemAuditError("a group cap must be at least 1")

    def settings(self, places: Sequence[PackagePlace], files: Sequence[Path]) -> dict[str, Any]:
        """Everything that decides the results; `files` are those that judges read."""
        return {
            "packages": contents_of(places),
            "stores": [[store.name, store.digest] for store in self.stores],
            "judges": [judge.name for judge in self.judges],
            "files": [content_digest(path) for path in files],
            "budgets": to_json(self.budgets),
            "cost_rules": self.cost_rules,
            "group_caps": self.group_caps,
            "group_cap": self.group_cap,
            "seconds": self.seconds,
            "stores_only": self.stores_only,
            "views": {view: [store.digest for store in seen] for view, seen in self.views.items()},
            "policy": self.policy,
            "salience": self.salience.names,
        }

    @property
    def variant_of(self) -> dict[str, str]:
        """The variant in which each judge decides."""
        base, *others = (judge.name for judge in self.judges)
        return {base: BASE, **{name: judge_variant(name) for name in others}}


@dataclass(frozen=True, slots=True)
class PackageSensitivity:
    """The rows of every variant; or why there are none."""

    package: str
    runs: Mapping[str, list[list[SensitivityRow]]] = field(default_factory=dict)
    stores: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By judge, the stores and what is not seen of them."""
    caveats: tuple[str, ...] = ()
    not_scored: str = ""

    @property
    def assumed(self) -> Fraction:
        """The largest share of OPT or of a store that rests on assumed cells."""
        base = self.runs.get(BASE, ())
        return max((row.assumed for run in base for row in run), default=Fraction(0))


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
    package = part.package
    judged = {
        judge.name: [
            judge_store(package, store, judge, plan.salience).without_units(part.left_out)
            for store in stores
        ]
        for judge in plan.judges
    }
    packages = {judge.name: judge_candidates(package, judge) for judge in plan.judges}
    names = {store.name for store in stores}
    base, *others = judged
    by_others = {name: (packages[name], judged[name]) for name in others}
    tried = variants(
        packages[base], judged[base], plan.cost_rules, plan.group_caps, plan.group_cap, by_others
    )
    seen = (
        Variant(
            f"view {view}",
            packages[base],
            _judged(plan, package, exported, names),
            plan.group_cap,
        )
        for view, exported in plan.views.items()
    )
    return PackageSensitivity(
        package.name,
        variant_runs(chain(tried, seen), plan.budgets, plan.seconds, plan.policy, plan.threads),
        {
            name: [
                store_data(store, written.caveats)
                for store, written in zip(stores, by_judge, strict=True)
            ]
            for name, by_judge in judged.items()
        },
        tuple(_caveats(judged)),
    )


def variants(
    package: Package,
    stores: Sequence[JudgedStore],
    cost_rules: Sequence[str] | None = None,
    group_caps: Sequence[int] = USUAL_CAPS,
    group_cap: int | None = None,
    judged: Mapping[str, tuple[Package, Sequence[JudgedStore]]] | None = None,
) -> Iterator[Variant]:
    """The base, then every other judge, cost rule and group cap.

    `judged` are the same package and stores as other judges see them, by the judge's name.
    """
    stores = tuple(stores)
    yield Variant(BASE, package, stores, group_cap)
    for name, (by_other, others) in (judged or {}).items():
        yield Variant(judge_variant(name), by_other, tuple(others), group_cap)
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


def judge_variant(judge: str) -> str:
    """The name of the variant in which another judge decides."""
    return f"judge {judge}"


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


def _judged(
    plan: SensitivityPlan, package: Package, stores: Sequence[ExportedStore], names: set[str]
) -> tuple[JudgedStore, ...]:
    """Stores of a variant by the first judge, those of this package."""
    own = [store for store in stores if store.name in names]
    return tuple(judge_store(package, store, plan.judges[0], plan.salience) for store in own)


def _caveats(judged: Mapping[str, Sequence[JudgedStore]]) -> Iterator[str]:
    for name, by_judge in judged.items():
        for line in caveat_lines([(store.name, store.caveats) for store in by_judge]):
            yield line if len(judged) == 1 else f"{name}: {line}"

"""One package under every variant: what `study sensitivity` runs, maybe in another process."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

from memaudit.adapters.store import ExportedStore
from memaudit.core.package import Package
from memaudit.io.files import content_digest
from memaudit.io.packages import PackagePlace, PlaceOfPackage
from memaudit.io.typed_json import to_json
from memaudit.natural.named_packages import contents_of
from memaudit.scoring.candidate_cells import judge_candidates
from memaudit.scoring.caveats import caveat_lines, store_data
from memaudit.scoring.fed_turns import fed_part
from memaudit.scoring.judge import Judge, NotJudged
from memaudit.scoring.judged_store import judge_store
from memaudit.scoring.locomo_corrections import VARIANT_NAME, corrected_package, read_corrections
from memaudit.scoring.package_scores import prepared, why_not_scored, written_for
from memaudit.scoring.pruning import Policy
from memaudit.scoring.salience_source import OWN_SALIENCE, Salience
from memaudit.scoring.sensitivity import SensitivityRow, variant_runs
from memaudit.scoring.sensitivity_variants import (
    BASE,
    Variant,
    VariantChoices,
    judge_variant,
    variants,
)
from memaudit.scoring.written_store import WrittenStore


@dataclass(frozen=True, slots=True)
class SensitivityPlan:
    """The stores, the judges, of which the first is the base, and what else is varied."""

    stores: tuple[ExportedStore, ...]
    judges: tuple[Judge, ...]
    budgets: tuple[Fraction, ...]
    choices: VariantChoices
    group_cap: int | None = None
    seconds: float | None = None
    cost_rule: str | None = None
    stores_only: bool = False
    views: Mapping[str, Sequence[ExportedStore]] = field(default_factory=dict)
    corrections: tuple[Path, Path] | None = None
    """Corrected evidence of LoCoMo, and its conversations."""
    many: bool = False
    """Whether there are several packages: then a store need not be written for each."""
    policy: Policy | None = None
    salience: Salience = OWN_SALIENCE

    def settings(self, places: Sequence[PackagePlace], files: Sequence[Path]) -> dict[str, Any]:
        """Everything that decides the results; `files` are those that judges read."""
        return {
            "packages": contents_of(places),
            "stores": [[store.name, store.digest] for store in self.stores],
            "judges": [judge.name for judge in self.judges],
            "files": [content_digest(path) for path in files],
            "budgets": to_json(self.budgets),
            "choices": to_json(self.choices),
            "group_cap": self.group_cap,
            "seconds": self.seconds,
            "cost_rule": self.cost_rule,
            "stores_only": self.stores_only,
            "views": {view: [store.digest for store in seen] for view, seen in self.views.items()},
            "corrections": [content_digest(path) for path in self.corrections or ()],
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
    corrected: str = ""
    not_scored: str = ""

    @property
    def assumed(self) -> Fraction:
        """The largest share of OPT or of a store that rests on assumed cells."""
        base = self.runs.get(BASE, ())
        return max((row.assumed for run in base for row in run), default=Fraction(0))


def sensitivity_at(plan: SensitivityPlan, place: PlaceOfPackage) -> PackageSensitivity:
    """Measure every variant of a package."""
    package = prepared(place.read(), plan.cost_rule, plan.stores_only)
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
    base, *others = judged
    by_others = {name: (packages[name], judged[name]) for name in others}
    tried = variants(packages[base], judged[base], plan.choices, plan.group_cap, by_others)
    names = {store.name for store in stores}
    extra = [
        Variant(f"view {view}", packages[base], _judged(plan, package, seen, names), plan.group_cap)
        for view, seen in plan.views.items()
    ]
    corrected = ""
    if plan.corrections is not None:
        errors, conversations = plan.corrections
        found = corrected_package(package, read_corrections(errors), conversations)
        counts = ", ".join(f"{number} {what}" for what, number in found.count.items())
        corrected = f"{VARIANT_NAME}: {counts or 'none for this conversation'}"
        extra.append(
            Variant(
                VARIANT_NAME,
                judge_candidates(found.package, plan.judges[0]),
                _judged(plan, found.package, stores, names),
                plan.group_cap,
            )
        )
    return PackageSensitivity(
        package.name,
        variant_runs(chain(tried, extra), plan.budgets, plan.seconds, plan.policy),
        {
            name: [
                store_data(store, written.caveats)
                for store, written in zip(stores, by_judge, strict=True)
            ]
            for name, by_judge in judged.items()
        },
        tuple(_caveats(judged)),
        corrected,
    )


def _judged(
    plan: SensitivityPlan, package: Package, stores: Sequence[ExportedStore], names: set[str]
) -> tuple[WrittenStore, ...]:
    """Stores of a variant by the first judge, those of this package."""
    own = [store for store in stores if store.name in names]
    return tuple(judge_store(package, store, plan.judges[0], plan.salience) for store in own)


def _caveats(judged: Mapping[str, Sequence[WrittenStore]]) -> Iterator[str]:
    for name, by_judge in judged.items():
        for line in caveat_lines([(store.name, store.caveats) for store in by_judge]):
            yield line if len(judged) == 1 else f"{name}: {line}"

"""Scores of stores, package by package, at every budget, and the JSON that `--json` prints."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Enclosure, plain
from memaudit.core.number_text import rounded
from memaudit.core.optimum import Optimum
from memaudit.core.package import Package
from memaudit.scoring.caveats import store_data
from memaudit.scoring.diagnosis import (
    Diagnosis,
    KindRow,
    LossStep,
    NoDiagnosis,
    diagnose,
    kind_data,
    kind_rows,
)
from memaudit.scoring.judge import Judge, NotJudged
from memaudit.scoring.judged_store import (
    OWN_SALIENCE,
    Salience,
    WrittenStore,
    examples_of,
    judge_store,
    out_of_pool,
)
from memaudit.scoring.score import Ratio
from memaudit.scoring.store_scores import PrunedStore, StoreScore, StoreScorer

MOST_UNITS = 10


def scorecard(score: StoreScore) -> dict[str, Any]:
    """One store at one budget."""
    upper = {**_pruned(score.upper), **_optimum(score.upper_optimum)}
    return {
        "store": score.name,
        "budget": plain(score.budget),
        "memories": score.memories,
        "value": rounded(score.score.value),
        "cost": plain(score.score.cost),
        "feasible": score.feasible,
        "package_ratio": ratio_row(score.package_ratio),
        "union_ratio": ratio_row(score.union_ratio),
        "common_union_ratio": ratio_row(score.common_ratio),
        "upper_pruned": upper,
        "pruned": {one.policy: _pruned(one) for one in score.pruned},
    }


def ratio_row(ratio: Ratio) -> dict[str, Any]:
    """A ratio with its denominator, or why there is none and what is known of it."""
    value, between = ratio.value, ratio.between
    return {
        "value": None if value is None else rounded(value),
        "undefined": ratio.undefined or None,
        "between": None if between is None else [rounded(end) for end in between],
        "optimum": rounded(ratio.optimum.value),
        "basis": ratio.basis,
        **_optimum(ratio.optimum),
        "digest": ratio.optimum.digest,
    }


def _optimum(optimum: Optimum) -> dict[str, Any]:
    """How far it is proven."""
    return {
        "certified": optimum.certified, "status": optimum.status, "bound": rounded(optimum.bound)
    }  # fmt: skip


def _pruned(one: PrunedStore) -> dict[str, Any]:
    union, common = ratio_row(one.ratio), ratio_row(one.common_ratio)
    return {
        "value": rounded(one.score.value),
        "cost": plain(one.score.cost),
        "memories": len(one.store),
        "union_ratio": union["value"],
        "union_ratio_between": union["between"],
        "common_union_ratio": common["value"],
        "common_union_ratio_between": common["between"],
    }


def diagnosis_row(found: Diagnosis | NoDiagnosis) -> dict[str, Any]:
    """A diagnosis, its shares as exact text that sums to 1 with `kept`; or why there is none."""
    if isinstance(found, NoDiagnosis):
        return {
            "undefined": found.undefined, "message": str(found), "basis": found.basis,
            "optimum": rounded(found.optimum.value), **_optimum(found.optimum),
        }  # fmt: skip
    row = {
        "store": found.store,
        "budget": plain(found.budget),
        "optimum": rounded(found.optimum),
        "kept_by": found.policy,
        "kept": str(found.kept_share),
        "losses": {step.name: _step(step, found.is_exact) for step in found.steps},
        "advice": found.advice,
        "exact": found.is_exact,
    }
    return row if found.is_exact else {**row, "kept_between": _between(found.kept_between)}


def _step(step: LossStep, exact: bool) -> dict[str, Any]:
    row = {
        "share": str(step.share),
        "value": rounded(step.value),
        "units": [[unit, rounded(part)] for unit, part in step.units[:MOST_UNITS]],
        "more_units": max(0, len(step.units) - MOST_UNITS),
        "queries": list(step.queries[:MOST_UNITS]),
        "more_queries": max(0, len(step.queries) - MOST_UNITS),
    }
    return row if exact else {**row, "share_between": _between(step.between)}


def _between(one: Enclosure) -> list[str]:
    """Both ends as exact text: they are closer to each other than rounding."""
    return [str(one.low), str(one.high)]


FORMAT = "memaudit-scores"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Scoring:
    """How stores are scored, whatever the package. Judges are by store: one for all, or one each
    where files of labels name memories by ids that stores share."""

    budgets: tuple[Fraction, ...]
    judges: Mapping[str, Judge]
    salience: Salience = OWN_SALIENCE
    group_cap: int | None = None
    seconds: float | None = None

    @property
    def judge_name(self) -> str:
        """The judge, or the judges; files of one kind are listed after it."""
        return ", ".join(dict.fromkeys(judge.name for judge in self.judges.values()))

    @property
    def is_estimate(self) -> bool:
        """Whether any coverage is a guess."""
        return any(judge.is_estimate for judge in self.judges.values())


@dataclass(frozen=True, slots=True)
class StoreRow:
    """One store at one budget."""

    score: StoreScore
    diagnosis: Diagnosis | NoDiagnosis
    kinds: tuple[KindRow, ...]


@dataclass(frozen=True, slots=True)
class PackageScores:
    """One package, its stores as they were exported and as they are scored, and their rows."""

    package: Package
    digest: str
    scoring: Scoring
    exported: tuple[ExportedStore, ...]
    stores: tuple[WrittenStore, ...]
    rows: tuple[StoreRow, ...]


def score_package(
    package: Package, exported: Sequence[ExportedStore], scoring: Scoring
) -> PackageScores:
    """Score stores against one package and each other."""
    refuse_equal_names(exported)
    stores = tuple(
        judge_store(package, store, scoring.judges[store.name], scoring.salience)
        for store in exported
    )
    return score_judged(package, exported, stores, scoring)


def score_judged(
    package: Package,
    exported: Sequence[ExportedStore],
    stores: Sequence[WrittenStore],
    scoring: Scoring,
) -> PackageScores:
    """The same for stores that are judged already."""
    audit = StoreScorer(package, stores, scoring.group_cap, scoring.seconds)
    rows = tuple(_row(audit, store, budget) for budget in scoring.budgets for store in audit.stores)
    digest = audit.package_optimum(scoring.budgets[0]).digest
    return PackageScores(package, digest, scoring, tuple(exported), audit.stores, rows)


def refuse_equal_names(stores: Sequence[ExportedStore]) -> None:
    """Stores are told apart by name."""
    if len({store.name for store in stores}) < len(stores):
        raise MemAuditError("two stores have the same name; import one of them with another --name")


def _row(audit: StoreScorer, store: WrittenStore, budget: Fraction) -> StoreRow:
    score = audit.score(store, budget)
    found: Diagnosis | NoDiagnosis
    try:
        found = diagnose(audit, store, budget)
    except NoDiagnosis as reason:
        found = reason
    told = None if isinstance(found, NoDiagnosis) else found
    return StoreRow(score, found, tuple(kind_rows(audit.package, score.score.unit_values, told)))


def sheet_data(found: PackageScores) -> dict[str, Any]:
    """As plain data: what `--json` prints of one package."""
    scoring, package = found.scoring, found.package
    cap = package.group_cap if scoring.group_cap is None else scoring.group_cap
    return {
        "format": FORMAT,
        "version": VERSION,
        "package": package.name,
        "digest": found.digest,
        "cost_rule": package.cost_rule,
        "group_cap": cap,
        "judge": scoring.judge_name,
        "coverage_is_an_estimate": scoring.is_estimate,
        "undecided_cells": sum(len(store.account.undecided) for store in found.stores),
        "stores": [
            store_data(store, kept.account)
            for store, kept in zip(found.exported, found.stores, strict=True)
        ],
        "scores": [
            {
                **scorecard(row.score),
                "unit_kinds": {one.kind: kind_data(one) for one in row.kinds},
                "diagnosis": diagnosis_row(row.diagnosis),
            }
            for row in found.rows
        ],
    }


OUT_OF_POOL = "out of the scoring pool"
NO_STORE = "no store was written for it"
NO_PACKAGE = "no such package"


@dataclass(frozen=True, slots=True)
class Unscored:
    """A package, or one store of it, without scores; `store` is None for all of them."""

    package: str
    store: str | None
    reason: str


def score_packages(
    packages: Sequence[Package], stores: Sequence[ExportedStore], scoring: Scoring
) -> Iterator[PackageScores | Unscored]:
    """Every package with the stores that were written for it, in order; what is missing is said."""
    refuse_equal_names(stores)
    names = {package.name for package in packages}
    for store in stores:
        examples = examples_of(store)
        if not examples:
            raise MemAuditError(
                f"{store.name!r} does not say which package each memory was written for (the "
                "field example); score it on one package"
            )
        yield from (Unscored(name, store.name, NO_PACKAGE) for name in sorted(examples - names))
    for package in packages:
        yield from _one(package, stores, scoring)


def _one(
    package: Package, stores: Sequence[ExportedStore], scoring: Scoring
) -> Iterator[PackageScores | Unscored]:
    if out_of_pool(package):
        yield Unscored(package.name, None, OUT_OF_POOL)
        return
    there = [store for store in stores if package.name in examples_of(store)]
    if not there:
        yield Unscored(package.name, None, NO_STORE)
        return
    exported, kept = [], []
    for store in there:
        try:
            kept.append(judge_store(package, store, scoring.judges[store.name], scoring.salience))
            exported.append(store)
        except NotJudged as reason:
            yield Unscored(package.name, store.name, str(reason))
    if kept:
        yield score_judged(package, exported, kept, scoring)

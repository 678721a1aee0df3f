"""Scores of stores, package by package, at every budget."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.scoring.judged_store import (
    OWN_SALIENCE,
    Salience,
    WrittenStore,
    examples_of,
    is_out_of_pool,
    judge_store,
)
from memaudit.scoring.judges import Judge, NotJudged
from memaudit.scoring.loss_diagnosis import (
    Diagnosis,
    KindRow,
    NoDiagnosis,
    diagnose_losses,
    kind_rows,
)
from memaudit.scoring.score import StoreScore, StoreScorer


@dataclass(frozen=True, slots=True)
class Scoring:
    """How stores are scored, whatever the package.

    Judges are by store: one for all, or one each where files of labels name memories by ids that
    stores share.
    """

    budgets: tuple[Fraction, ...]
    judges: Mapping[str, Judge]
    salience: Salience = OWN_SALIENCE
    group_cap: int | None = None
    seconds: float | None = None

    @property
    def judge_name(self) -> str:
        """The judge, or the judges separated by commas."""
        return ", ".join(dict.fromkeys(judge.name for judge in self.judges.values()))

    @property
    def is_estimate(self) -> bool:
        """Whether any coverage is a guess."""
        return any(judge.is_estimate for judge in self.judges.values())


@dataclass(frozen=True, slots=True)
class StoreResult:
    """One store at one budget."""

    score: StoreScore
    diagnosis: Diagnosis | NoDiagnosis
    kinds: tuple[KindRow, ...]


@dataclass(frozen=True, slots=True)
class PackageScores:
    """One package, its stores as they were exported and as they were judged, and their results."""

    package: Package
    digest: str
    scoring: Scoring
    exported: tuple[ExportedStore, ...]
    stores: tuple[WrittenStore, ...]
    rows: tuple[StoreResult, ...]


@dataclass(frozen=True, slots=True)
class Unscored:
    """A package without scores, or one store of it; `store` is None for all stores."""

    package: str
    store: str | None
    reason: str


def score_package(
    package: Package, exported: Sequence[ExportedStore], scoring: Scoring
) -> PackageScores:
    """Score stores against one package and each other."""
    refuse_equal_store_names(exported)
    stores = [
        judge_store(package, store, scoring.judges[store.name], scoring.salience)
        for store in exported
    ]
    return score_judged(package, exported, stores, scoring)


def score_judged(
    package: Package,
    exported: Sequence[ExportedStore],
    stores: Sequence[WrittenStore],
    scoring: Scoring,
) -> PackageScores:
    """Score stores that are already judged."""
    scorer = StoreScorer(package, stores, scoring.group_cap, scoring.seconds)
    rows = tuple(
        _result(scorer, store, budget) for budget in scoring.budgets for store in scorer.stores
    )
    digest = scorer.package_optimum(scoring.budgets[0]).digest
    return PackageScores(package, digest, scoring, tuple(exported), scorer.stores, rows)


def _result(scorer: StoreScorer, store: WrittenStore, budget: Fraction) -> StoreResult:
    score = scorer.score(store, budget)
    by_kind = score.score.unit_values
    try:
        diagnosis = diagnose_losses(scorer, store, budget)
    except NoDiagnosis as reason:
        return StoreResult(score, reason, tuple(kind_rows(scorer.package, by_kind, None)))
    return StoreResult(score, diagnosis, tuple(kind_rows(scorer.package, by_kind, diagnosis)))


def score_packages(
    packages: Sequence[Package], stores: Sequence[ExportedStore], scoring: Scoring
) -> Iterator[PackageScores | Unscored]:
    """Every package with the stores that were written for it, in order, and what has no scores."""
    refuse_equal_store_names(stores)
    names = {package.name for package in packages}
    for store in stores:
        examples = examples_of(store)
        if not examples:
            raise MemAuditError(
                f"{store.name!r} does not say which package each memory was written for (the "
                "field example); score it on one package"
            )
        for name in sorted(examples - names):
            yield Unscored(name, store.name, "no such package")
    for package in packages:
        written_for = [store for store in stores if package.name in examples_of(store)]
        if is_out_of_pool(package):
            yield Unscored(package.name, None, "out of the scoring pool")
        elif not written_for:
            yield Unscored(package.name, None, "no store was written for it")
        else:
            yield from _score_judgeable(package, written_for, scoring)


def _score_judgeable(
    package: Package, stores: Sequence[ExportedStore], scoring: Scoring
) -> Iterator[PackageScores | Unscored]:
    exported, judged = [], []
    for store in stores:
        try:
            judged.append(judge_store(package, store, scoring.judges[store.name], scoring.salience))
            exported.append(store)
        except NotJudged as reason:
            yield Unscored(package.name, store.name, str(reason))
    if judged:
        yield score_judged(package, exported, judged, scoring)


def refuse_equal_store_names(stores: Sequence[ExportedStore]) -> None:
    """Stores are distinguished by name."""
    if len({store.name for store in stores}) < len(stores):
        raise MemAuditError("two stores have the same name; import one of them with another --name")

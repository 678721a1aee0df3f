"""Scores of stores, package by package, at every budget."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.adapters.store import ExportedStore
from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.grounds import is_estimate
from memaudit.core.package import Package
from memaudit.scoring.candidate_cells import assumed_pairs, judge_candidates
from memaudit.scoring.fed_turns import FedPart, examples_of, fed_part, written_from
from memaudit.scoring.judged_store import (
    OWN_SALIENCE,
    Salience,
    is_out_of_pool,
    judge_store,
    measured_store,
)
from memaudit.scoring.judges import Judge, NotJudged
from memaudit.scoring.lazy_judging import LazyPlan, LazyResult, judge_lazily
from memaudit.scoring.loss_diagnosis import (
    Diagnosis,
    KindRow,
    NoDiagnosis,
    diagnose_losses,
    kind_rows,
)
from memaudit.scoring.score import StoreScore, StoreScorer
from memaudit.scoring.written_store import WrittenStore


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
    trust_package_cells: bool = False
    """Keep the package's assumed cells, which the judge of the stores judges otherwise."""
    lazy: LazyPlan | None = None

    @property
    def judge_name(self) -> str:
        """The judge, or the judges separated by commas."""
        return ", ".join(dict.fromkeys(judge.name for judge in self.judges.values()))


@dataclass(frozen=True, slots=True)
class StoreResult:
    """One store at one budget."""

    score: StoreScore
    diagnosis: Diagnosis | NoDiagnosis
    kinds: tuple[KindRow, ...]

    @property
    def assumed(self) -> tuple[Fraction, Fraction, Fraction]:
        """The shares of the package's OPT, of OPT of the common union, and of the store's value
        that rest on assumed cells."""
        score = self.score
        return (
            score.package_ratio.optimum.assumed, score.common_ratio.optimum.assumed,
            score.score.assumed,
        )  # fmt: skip

    @property
    def is_estimate(self) -> bool:
        """Whether much of OPT or of the store rests on assumed cells; `/ package` states its own
        share."""
        return is_estimate(self.assumed[1:])


@dataclass(frozen=True, slots=True)
class PackageScores:
    """One package, its stores as they were exported and as they were judged, and their results.

    `package` has the judge's cells; `digest` is that of the package as it was given. `union` is
    what the common optimum is taken over.
    """

    package: Package
    digest: str
    scoring: Scoring
    exported: tuple[ExportedStore, ...]
    stores: tuple[WrittenStore, ...]
    rows: tuple[StoreResult, ...]
    union: Package
    lazy: LazyResult | None = None
    package_cells: str = "judged"
    """Whether the package's assumed cells were `judged` like the stores, or `kept`."""

    @property
    def is_estimate(self) -> bool:
        """Whether much of a value rests on assumed cells, or a judge assumes what is 0."""
        return any(row.is_estimate for row in self.rows) or any(
            self.scoring.judges[store.name].is_estimate for store in self.stores
        )


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
    refuse_incomparable(exported)
    part = fed_part(package, exported)
    if scoring.lazy is not None:
        return _score_lazily(part, exported, scoring, scoring.lazy)
    stores = [_judged(part, store, scoring) for store in exported]
    return score_judged(part.package, exported, stores, scoring)


def _judged(part: FedPart, store: ExportedStore, scoring: Scoring) -> WrittenStore:
    judge = scoring.judges[store.name]
    return judge_store(part.package, store, judge, scoring.salience).without_units(part.left_out)


def _score_lazily(
    part: FedPart, exported: Sequence[ExportedStore], scoring: Scoring, plan: LazyPlan
) -> PackageScores:
    judges = list(dict.fromkeys(scoring.judges.values()))
    if len(judges) > 1:
        raise MemAuditError("lazy judging takes one judge for all stores")
    package = part.package
    measured = [
        measured_store(package, store, scoring.salience).without_units(part.left_out)
        for store in exported
    ]
    lazy = judge_lazily(
        package, measured, judges[0], scoring.budgets, plan, scoring.group_cap, scoring.seconds,
        scoring.trust_package_cells,
    )  # fmt: skip
    return _scores(package, lazy.package, exported, lazy.stores, scoring, lazy)


def score_judged(
    package: Package,
    exported: Sequence[ExportedStore],
    stores: Sequence[WrittenStore],
    scoring: Scoring,
) -> PackageScores:
    """Score stores that are already judged; their judge judges the package's assumed cells too."""
    judged = package
    if not scoring.trust_package_cells:
        for judge in dict.fromkeys(scoring.judges[store.name] for store in stores):
            judged = judge_candidates(judged, judge)
    return _scores(package, judged, exported, stores, scoring)


def _scores(
    package: Package,
    judged: Package,
    exported: Sequence[ExportedStore],
    stores: Sequence[WrittenStore],
    scoring: Scoring,
    lazy: LazyResult | None = None,
) -> PackageScores:
    scorer = StoreScorer(judged, stores, scoring.group_cap, scoring.seconds)
    rows = tuple(
        _result(scorer, store, budget) for budget in scoring.budgets for store in scorer.stores
    )
    kept = judged is package and any(assumed_pairs(package).values())
    return PackageScores(
        judged, digest(package), scoring, tuple(exported), scorer.stores, rows, scorer.common, lazy,
        "kept" if kept else "judged",
    )  # fmt: skip


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
    refuse_incomparable(stores)
    for store in stores:
        examples = examples_of(store)
        if not examples:
            raise MemAuditError(
                f"{store.name!r} does not say which package each memory was written for (the "
                "field example); score it on one package"
            )
        known = set().union(*(written_from(store, package) for package in packages))
        for name in sorted(examples - known):
            yield Unscored(name, store.name, "no such package")
    for package in packages:
        written_for = [store for store in stores if written_from(store, package)]
        if is_out_of_pool(package):
            yield Unscored(package.name, None, "out of the scoring pool")
        elif not written_for:
            yield Unscored(package.name, None, "no store was written for it")
        else:
            yield from _score_judgeable(package, written_for, scoring)


def _score_judgeable(
    package: Package, stores: Sequence[ExportedStore], scoring: Scoring
) -> Iterator[PackageScores | Unscored]:
    if scoring.lazy is not None:
        try:
            yield score_package(package, stores, scoring)
        except NotJudged as reason:
            yield Unscored(package.name, None, str(reason))
        return
    exported, judged = [], []
    part = fed_part(package, stores)
    for store in stores:
        try:
            judged.append(_judged(part, store, scoring))
            exported.append(store)
        except NotJudged as reason:
            yield Unscored(package.name, store.name, str(reason))
    if judged:
        yield score_judged(part.package, exported, judged, scoring)


def refuse_incomparable(stores: Sequence[ExportedStore]) -> None:
    """Stores are distinguished by name, and show times by the same rule."""
    if len({store.name for store in stores}) < len(stores):
        raise MemAuditError("two stores have the same name; import one of them with another --name")
    if len({store.times for store in stores}) > 1:
        first, other = next(
            (stores[0], store) for store in stores if store.times != stores[0].times
        )
        raise MemAuditError(
            f"{first.name!r} was imported with --times {first.times} and {other.name!r} with "
            f"--times {other.times}; give --times, which then holds for all stores"
        )

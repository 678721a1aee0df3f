"""Scores of stores, package by package, at every budget: where the parts of a score meet.

store_match      which stores were written from this conversation, and which turns they were fed
priced_store     their active memories with costs
judging          what these cover, as a judge says, and what the package's assumed cells cover
core_and_rest    units as two halves, so that partial means the core
score            optima, what is kept, ratios
verdict          how complete and how lean a store is
loss_diagnosis   where the rest of OPT went
score_interval   what the judge's error does to all this
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.losses import KEPT, LESS_IS_ENOUGH
from memaudit.kernel.package.budgets import OWN, USUAL_BUDGETS, asked_budgets
from memaudit.kernel.package.cost import DECLARED, cost_rule
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import NotJudged
from memaudit.kernel.score.judging import assumed_pairs, judge_candidates, judge_store
from memaudit.kernel.score.loss_diagnosis import (
    Diagnosis,
    NoDiagnosis,
    diagnose_losses,
    kind_rows,
    lost_units,
)
from memaudit.kernel.score.priced_store import JudgedStore, is_out_of_pool
from memaudit.kernel.score.result import ScoreResult, Scoring, StoreScore
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.score.score_interval import with_intervals
from memaudit.kernel.score.store_match import FedPart, examples_of, fed_part, written_from
from memaudit.kernel.score.verdict import Verdict, verdict


@dataclass(frozen=True, slots=True)
class Unscored:
    """A package without scores, or one store of it; `store` is None for all stores."""

    package: str
    store: str | None
    reason: str


def score_package(
    package: Package, exported: Sequence[ExportedStore], scoring: Scoring
) -> ScoreResult:
    """Score stores against one package and each other.

    `exported` are the stores, with names that differ; one that its judge cannot judge is an error.
    `scoring` says by which judges, at which budgets, and what is done beside.
    """
    refuse_incomparable(exported)
    part = fed_part(package, exported)
    stores = [_judge(part, store, scoring) for store in exported]
    return score_judged_stores(part.package, exported, stores, scoring)


def _judge(part: FedPart, store: ExportedStore, scoring: Scoring) -> JudgedStore:
    judge = scoring.judges[store.name]
    return judge_store(part.package, store, judge, scoring.salience).without_units(part.left_out)


def score_judged_stores(
    package: Package,
    exported: Sequence[ExportedStore],
    stores: Sequence[JudgedStore],
    scoring: Scoring,
) -> ScoreResult:
    """Score stores that are already judged; their judge judges the package's assumed cells too.

    `package` weighs nothing that some store could not know (`fed_part`). `stores` are the judged
    ones of `exported`, in its order, which intervals judge again in every draw.
    """
    rejudged = package
    if not scoring.trust_package_cells:
        # One judge on both sides: a lenient one then raises the optimum as it raises the store.
        for judge in dict.fromkeys(scoring.judges[store.name] for store in stores):
            rejudged = judge_candidates(rejudged, judge)
    if (truths := scoring.truths) is not None:
        rejudged = truths.package(rejudged)
        stores = [truths.store(store, package) for store in stores]
    scorer = StoreScorer(rejudged, stores, scoring.group_cap, scoring.seconds, scoring.threads)
    plans = _budget_plans(package, scorer.stores, scoring)
    verdicts = {store.name: verdict(scorer, store, truths) for store in scorer.stores}
    rows = [
        _score_row(scorer, store, budget, asked, scoring, verdicts[store.name])
        for asked, store, budget in plans
    ]
    return with_intervals(
        _assemble(package, exported, scorer, rows, tuple(verdicts.values()), scoring)
    )


def _assemble(
    package: Package,
    exported: Sequence[ExportedStore],
    scorer: StoreScorer,
    rows: Sequence[StoreScore],
    verdicts: tuple[Verdict, ...],
    scoring: Scoring,
) -> ScoreResult:
    rejudged = scorer.package
    kept = rejudged is package and any(assumed_pairs(package).values())
    return ScoreResult(
        package=rejudged,
        original_package=package,
        # Before the judge: what a judge made of a package has no file to compare with. Where units
        # were left out because a store was not fed their turns, it is the digest without them.
        digest=digest(package),
        scoring=scoring,
        exported=tuple(exported),
        stores=scorer.stores,
        rows=tuple(rows),
        verdicts=verdicts,
        union=scorer.common,
        package_cells="kept" if kept else "judged",
    )


def _budget_plans(
    package: Package, stores: Sequence[JudgedStore], scoring: Scoring
) -> list[tuple[str, JudgedStore, Fraction]]:
    """Each budget as it was asked for, with what it amounts to for each store."""
    whole = conversation_cost(package)
    # Without a cost of the conversation there is no share of it that could be usual.
    budgets = scoring.budgets or asked_budgets(USUAL_BUDGETS if whole else OWN)
    # 10% of nothing would be a budget of 1, which nobody meant.
    if not whole and any(asked.share is not None for asked in budgets):
        raise MemAuditError(
            f"the turns of {package.name!r} have no cost, so a share of the conversation is no "
            "budget; give costs such as 250, or own"
        )
    return [
        (asked.text, store, asked.amount(whole, store.cost))
        for asked in budgets
        for store in stores
    ]


def conversation_cost(package: Package) -> Fraction:
    """The cost of all turns of the conversation, word for word; 0 where no rule measures texts."""
    if package.cost_rule == DECLARED:
        return Fraction(0)
    measure = cost_rule(package.cost_rule)
    return Fraction(sum(measure(turn.text) for turn in package.experiences))


def _score_row(
    scorer: StoreScorer,
    store: JudgedStore,
    budget: Fraction,
    asked: str,
    scoring: Scoring,
    whole: Verdict,
) -> StoreScore:
    numbers = scorer.numbers(store, budget, scoring.policy, asked)
    try:
        losses = diagnose_losses(scorer, store, budget, scoring.policy)
        if losses.advice == KEPT.advice and whole.is_wasteful:
            losses = replace(losses, advice=LESS_IS_ENOUGH)
        diagnosis: Diagnosis | NoDiagnosis = losses
    except NoDiagnosis as reason:
        diagnosis = reason
    known = None if isinstance(diagnosis, NoDiagnosis) else diagnosis
    at_random = scorer.random_cut(store, budget, scoring.shuffles) if scoring.shuffles else None
    return StoreScore(
        numbers,
        at_random,
        diagnosis,
        tuple(kind_rows(scorer.package, numbers.written.unit_values, known)),
        scoring.judges[store.name].is_estimate,
        lost_units(scorer.package, diagnosis),
    )


def apply_overrides(package: Package, cost_rule: str | None, stores_only: bool) -> Package:
    """The package with other costs, or without candidates of its own, where that is asked for."""
    if cost_rule is not None:
        package = package.recost(cost_rule)
    return package.replace(candidates=(), coverage=()) if stores_only else package


def refuse_unnamed(stores: Sequence[ExportedStore]) -> None:
    """For several packages, a store must say which one each memory was written for."""
    for store in stores:
        if not examples_of(store):
            raise MemAuditError(
                f"{store.name!r} does not say which package each memory was written for (the "
                "field example); score it on one package"
            )


def written_for(package: Package, stores: Sequence[ExportedStore]) -> dict[str, list[str]]:
    """By the names of the stores written for a package, what they call it."""
    examples = {store.name: sorted(written_from(store, package)) for store in stores}
    return {name: names for name, names in examples.items() if names}


def unknown_examples(
    stores: Sequence[ExportedStore], scored: Collection[tuple[str, str]]
) -> Iterator[Unscored]:
    """What stores were written for that is not among the packages; `scored` is what is."""
    for store in stores:
        for name in sorted(examples_of(store)):
            if (store.name, name) not in scored:
                yield Unscored(name, store.name, "no such package")


def why_not_scored(package: Package, written: Collection[str]) -> str:
    """Why a package has no scores, before anybody judged it; empty where it may have some."""
    if is_out_of_pool(package):
        return "out of the scoring pool"
    return "" if written else "no store was written for it"


ScoreTogether = Callable[[Package, Sequence[ExportedStore]], ScoreResult]
"""Scores all stores of a package or none of them."""


def score_matching_stores(
    package: Package,
    stores: Sequence[ExportedStore],
    written: Collection[str],
    scoring: Scoring,
    together: ScoreTogether | None = None,
) -> Iterator[ScoreResult | Unscored]:
    """The scores of the stores that were written for a package, and what has none.

    A store that cannot be judged does not keep the others from a score, unless they are scored
    `together`.
    """
    matching = [store for store in stores if store.name in written]
    if why := why_not_scored(package, written):
        yield Unscored(package.name, None, why)
    # Asking less weighs pairs of all stores against each other, so there one that cannot be judged
    # leaves nothing to compare.
    elif together is None:
        yield from _score_each(package, matching, scoring)
    else:
        try:
            yield together(package, matching)
        except NotJudged as reason:
            yield Unscored(package.name, None, str(reason))


def _score_each(
    package: Package, stores: Sequence[ExportedStore], scoring: Scoring
) -> Iterator[ScoreResult | Unscored]:
    exported, judged = [], []
    part = fed_part(package, stores)
    for store in stores:
        try:
            judged.append(_judge(part, store, scoring))
            exported.append(store)
        except NotJudged as reason:
            yield Unscored(package.name, store.name, str(reason))
    if judged:
        yield score_judged_stores(part.package, exported, judged, scoring)


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
            f"--times {other.times}; set score.times, which then holds for all stores"
        )

"""Scores over all budgets, so that no single budget has to be chosen.

OPT is that of a frontier, exact at every whole budget. What a policy keeps changes at some of them;
scores are taken at evenly spread budgets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.package_scores import conversation_cost
from memaudit.kernel.score.pruning import BY_DEFAULT, keep_within
from memaudit.kernel.score.result import ScoreResult
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.solvers.frontier import frontier

POINTS = 200
"""Budgets at which scores are taken."""

Progress = Callable[[int], None]
"""Called with the number of frontiers that are done."""


@dataclass(frozen=True, slots=True)
class StoreCurve:
    """One store at each budget of a curve: its score, and that of its best subset."""

    store: str
    cost: Fraction
    scores: tuple[float | None, ...]
    best: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class ScoreCurve:
    """Scores at budgets from 0 on; None where OPT is 0."""

    package: str
    union_digest: str
    cost_rule: str
    policy: str
    """How a store over budget is cut."""
    budgets: tuple[int, ...]
    optimum: tuple[float, ...]
    """OPT of the common union at each budget, over OPT at the last one."""
    stores: tuple[StoreCurve, ...]


def score_curve(result: ScoreResult, progress: Progress | None = None) -> ScoreCurve:
    """The scores of a result's stores at budgets from 0 to where everything is ample.

    The last budget is the largest of the stores' own costs and 40% of the conversation.
    """
    if result.union.is_open:
        raise MemAuditError("some cells are not judged, so scores over all budgets are not known")
    scoring, stores = result.scoring, result.stores
    scorer = StoreScorer(result.package, stores, scoring.group_cap)
    most = max([conversation_cost(result.package) * 2 / 5, *(store.cost for store in stores)])
    last = max(1, ceil(most))
    budgets = tuple(dict.fromkeys(last * at // POINTS for at in range(POINTS + 1)))
    cap = scoring.group_cap
    optimum = frontier(scorer.common, last, cap)
    if progress is not None:
        progress(1)
    curves = []
    for done, store in enumerate(stores, start=2):
        best = frontier(scorer.alone(store), last, cap)
        kept = []
        for budget in budgets:
            ids = keep_within(store, Fraction(budget), scoring.policy).ids
            kept.append(_over(scorer.worth(store, ids).value, optimum.values[budget]))
        upper = tuple(_over(best.values[budget], optimum.values[budget]) for budget in budgets)
        curves.append(StoreCurve(store.name, store.cost, tuple(kept), upper))
        if progress is not None:
            progress(done)
    return ScoreCurve(
        package=result.package.name,
        union_digest=optimum.digest,
        cost_rule=result.package.cost_rule,
        policy=scoring.policy or BY_DEFAULT,
        budgets=budgets,
        optimum=tuple(
            _over(optimum.values[budget], optimum.values[last]) or 0.0 for budget in budgets
        ),
        stores=tuple(curves),
    )


def _over(value: Fraction, optimum: Fraction) -> float | None:
    return float(value / optimum) if optimum else None

"""Scores over all budgets are those of single budgets."""

from dataclasses import replace
from fractions import Fraction

import pytest

from memaudit.building.named_packages import short_set
from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, Memory
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import Log1p
from memaudit.kernel.score.judge import Cell
from memaudit.kernel.score.package_scores import (
    conversation_cost,
    score_judged_stores,
    score_package,
)
from memaudit.kernel.score.pruning import Policy
from memaudit.kernel.score.result import ScoreResult, Scoring
from memaudit.kernel.score.score import StoreScorer
from memaudit.show.score_curve import POINTS, score_curve
from tests.kernel.score.small_stores import DOG, PETS, F, exported, meals_scores

HOTEL = short_set()[0]


def stores() -> list[ExportedStore]:
    """Facts and whole turns, the first with the highest salience."""
    return [
        exported(
            *(Memory(id=f"m{n}", text=text, salience=9.0 - n) for n, text in enumerate(texts)),
            name=name,
        )
        for name, kinds in (("facts", ("fact", "rule")), ("turns", ("raw",)))
        if (texts := [one.text for one in HOTEL.candidates if one.kind in kinds][:9])
    ]


def scored(
    package: Package, policy: Policy | None = None, group_cap: int | None = None
) -> ScoreResult:
    judges = {store.name: LexicalJudge() for store in stores()}
    scoring = Scoring(asked_budgets("own"), judges, policy=policy, group_cap=group_cap)
    return score_package(package, stores(), scoring)


@pytest.mark.parametrize(("policy", "group_cap"), [(None, None), ("salience", 2)])
def test_scores_are_those_of_single_budgets(policy: Policy | None, group_cap: int | None) -> None:
    """At every tenth budget, and at the own cost of each store; of what the policy keeps, and of
    the best subset, which is never below it."""
    result = scored(HOTEL, policy, group_cap)
    done: list[int] = []
    curve = score_curve(result, done.append)
    assert done == [1, 2, 3]
    assert curve.budgets[0] == 0
    assert curve.budgets[-1] == max(
        *(store.cost for store in result.stores), conversation_cost(HOTEL) * 2 // 5
    )
    assert sorted(set(curve.budgets)) == list(curve.budgets)
    assert len(curve.budgets) <= POINTS + 1
    assert curve.union_digest == result.union_digest
    scorer = StoreScorer(result.package, result.stores, group_cap)
    for store, line in zip(result.stores, curve.stores, strict=True):
        assert (line.store, line.cost) == (store.name, store.cost)
        near_own = next(at for at, budget in enumerate(curve.budgets) if budget >= store.cost)
        for at in {*range(0, len(curve.budgets), 10), near_own, len(curve.budgets) - 1}:
            numbers = scorer.numbers(store, Fraction(curve.budgets[at]), policy)
            expected = [numbers.kept.ratio.value, numbers.best.ratio.value]
            found = [line.scores[at], line.best[at]]
            assert found == [None if one is None else float(one) for one in expected]
        for score, best in zip(line.scores, line.best, strict=True):
            assert (score is None) == (best is None)
            assert score is None or best is None or 0 <= score <= best <= 1
    assert list(curve.optimum) == sorted(curve.optimum)
    assert curve.optimum[-1] == 1
    assert any(score is not None and score < 1 for score in curve.stores[0].scores)


def test_other_policies_make_other_curves() -> None:
    by_recency, by_salience = (score_curve(scored(HOTEL, policy)) for policy in (None, "salience"))
    assert by_recency.stores[0].best == by_salience.stores[0].best
    assert by_recency.stores[0].scores != by_salience.stores[0].scores


def test_irrational_h() -> None:
    """To the precision of single scores."""
    smooth = HOTEL.replace(
        units=tuple(unit.model_copy(update={"response": Log1p()}) for unit in HOTEL.units)
    )
    result = scored(smooth)
    curve = score_curve(result)
    scorer = StoreScorer(result.package, result.stores)
    for at in range(len(curve.budgets) // 4, len(curve.budgets), 40):
        numbers = scorer.numbers(result.stores[0], Fraction(curve.budgets[at]))
        assert numbers.kept.ratio.value is not None
        assert curve.stores[0].scores[at] == pytest.approx(
            float(numbers.kept.ratio.value), abs=1e-8
        )


def test_where_opt_is_0_there_is_no_score() -> None:
    """By hand: of MEALS `m1` of the store is 1 word, and the first candidates are 2 and 4. No rule
    measures the turns, so the last budget is the 7 words of the store."""
    curve = score_curve(meals_scores(5))
    (line,) = curve.stores
    assert curve.budgets == tuple(range(8))
    assert [round(one * 7) for one in curve.optimum] == [0, 1, 1, 1, 6, 7, 7, 7]
    assert line.scores == (None, 0, 1, 1, 1 / 6, 1 / 7, 3 / 7, 4 / 7)
    assert line.best == (None, 1, 1, 1, 1 / 6, 3 / 7, 4 / 7, 4 / 7)


def test_open_cells_have_no_curve() -> None:
    """Of the package, and of a store alone."""
    scoring = Scoring(asked_budgets(8), {"s": LexicalJudge()}, trust_package_cells=True)
    store = exported(Memory(id="m", text="Ingrid wants foam pillows."))
    first, *rest = HOTEL.coverage
    package = HOTEL.replace(
        coverage=(first.model_copy(update={"value": F(0), "upper": F(1)}), *rest)
    )
    with pytest.raises(MemAuditError, match="some cells are not judged, so scores over all"):
        score_curve(score_package(package, [store], scoring))
    (memory,) = DOG.memories
    cells = {"dog": Cell(F(1, 2), "model:x", upper=F(1))}
    half = replace(DOG, memories=(replace(memory, coverage=cells),))
    judged = score_judged_stores(
        PETS, [exported(name="dog")], [half], Scoring(asked_budgets(3), {"dog": LexicalJudge()})
    )
    with pytest.raises(MemAuditError, match="some cells are not judged"):
        score_curve(judged)

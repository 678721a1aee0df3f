"""Complete and lean: by hand, against every budget, and where an optimum stays open."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import gcd

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.checker import verify
from memaudit.kernel.package.objective import value
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.score.verdict import (
    COSTS_NOTHING,
    WORTH_NOTHING,
    cost_step,
    least_budget,
    verdict,
)
from memaudit.kernel.solvers.solve import solve
from tests.kernel.score.small_stores import LONG, MEALS, F, memory, stores


def test_by_hand() -> None:
    """LONG says 4 of the 7 that all together could say, in 7 words. The cheapest that is worth 4 is
    `both` of the package: 6 in 4 words. In 3 words there is only `old` or m1, worth 1."""
    scorer = StoreScorer(MEALS, [LONG])
    judged = verdict(scorer, LONG)
    assert (judged.complete.value, judged.lean) == (F(4, 7), F(4, 7))
    assert judged.least is not None
    least = judged.least
    assert least.store == ("both",)
    assert value(scorer.common, least.store).low >= 4
    assert scorer.common.total_cost(least.store) == least.high == least.exact
    assert least.below is not None
    assert least.below.value < 4
    assert least.below.certificate is not None
    assert verify(scorer.common, least.below.certificate).valid
    assert least.below.budget == least.high - cost_step(scorer.common)


@settings(max_examples=60, deadline=None)
@given(stores("a"), stores("b"))
def test_the_least_budget_is_the_least(first: JudgedStore, second: JudgedStore) -> None:
    """By enumeration of all stores of the union; complete is at most 1, lean too."""
    scorer = StoreScorer(MEALS, [first, second])
    union = scorer.common
    ids = [candidate.id for candidate in union.candidates]
    group = {candidate.id: candidate.experience for candidate in union.candidates}
    feasible = [
        chosen
        for size in range(len(ids) + 1)
        for chosen in combinations(ids, size)
        if len({group[id] for id in chosen}) == len(chosen)
    ]
    for store in (first, second):
        judged = verdict(scorer, store)
        worth = judged.complete.numerator
        assert judged.complete.value is None or 0 <= judged.complete.value <= 1
        assert judged.complete.optimum.value == max(value(union, chosen).low for chosen in feasible)
        if judged.lean is None:
            assert judged.not_lean in (WORTH_NOTHING, COSTS_NOTHING)
            assert not worth or not judged.cost
            continue
        assert judged.least is not None
        assert 0 <= judged.lean <= 1
        assert judged.least.exact == min(
            union.total_cost(chosen) for chosen in feasible if value(union, chosen).low >= worth
        )
        assert value(union, judged.least.store).low >= worth


def test_an_empty_store_is_not_complete_and_has_no_lean() -> None:
    empty = JudgedStore("empty", ())
    judged = verdict(StoreScorer(MEALS, [empty]), empty)
    assert (judged.complete.value, judged.lean, judged.not_lean) == (0, None, COSTS_NOTHING)
    worthless = JudgedStore("worthless", (memory("m", 3),))
    judged = verdict(StoreScorer(MEALS, [worthless]), worthless)
    assert (judged.complete.value, judged.lean, judged.not_lean) == (0, None, WORTH_NOTHING)


@pytest.mark.parametrize("sure", [0, 2, 4])
def test_open_optima_give_an_interval_that_holds_the_truth(sure: int) -> None:
    """Above `sure` the solver proves nothing: each bound is 2 too high, each store worth 1 less."""
    union = StoreScorer(MEALS, [LONG]).common

    def solved(budget: Fraction) -> Optimum:
        optimum = solve(union, budget)
        if budget <= sure:
            return optimum
        poorer = tuple(optimum.store[1:])
        return replace(
            optimum,
            store=poorer,
            value=value(union, poorer).low,
            cost=union.total_cost(poorer),
            bound=optimum.value + 2,
            status="bound",
        )

    known = (F(7), LONG.candidate_ids)
    exact = least_budget(lambda budget: solve(union, budget), union, F(4), known)
    found = least_budget(solved, union, F(4), known)
    assert exact.exact is not None
    assert found.low <= exact.exact <= found.high
    assert value(union, found.store).low >= 4
    assert union.total_cost(found.store) == found.high
    assert found.below is None or found.below.bound < 4


@given(st.lists(st.fractions(0, 20, max_denominator=12), max_size=6))
def test_every_cost_is_a_multiple_of_the_step(costs: list[Fraction]) -> None:
    package = MEALS.replace(
        candidates=tuple(
            candidate.model_copy(update={"cost": cost})
            for candidate, cost in zip(MEALS.candidates, [*costs, *[F(0)] * 99], strict=False)
        )
    )
    step = cost_step(package)
    multiples = [candidate.cost / step for candidate in package.candidates]
    assert all(number.denominator == 1 for number in multiples)
    if any(multiples):
        assert gcd(*(int(number) for number in multiples)) == 1


def test_draws_may_search_less() -> None:
    """Until what is not known is at most a share of the cost of the store."""
    scorer = StoreScorer(MEALS, [LONG])
    least = verdict(scorer, LONG, precision=F(1, 2)).least
    exact = verdict(scorer, LONG).least
    assert least is not None
    assert exact is not None
    assert exact.exact is not None
    assert least.low <= exact.exact <= least.high
    assert least.high - least.low <= F(7, 2)

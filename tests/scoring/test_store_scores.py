"""Scores of stores: unions, denominators and upper bounds."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.core.objective import value
from memaudit.scoring.judged_store import WrittenStore
from memaudit.scoring.score_json import score_row
from memaudit.scoring.store_scores import StoreScorer, union_package
from memaudit.solvers.solve import solve
from tests.scoring.small_stores import LONG, MEALS, F, memory, stores


def test_union_by_hand() -> None:
    """At budget 5 the package alone reaches 6; with m1 of the store, 7."""
    assert solve(MEALS, 5).value == 6
    scorer = StoreScorer(MEALS, [LONG])
    score = scorer.score(LONG, F(5))
    assert scorer.package_optimum(F(5)).value == 6
    assert scorer.union_optimum(LONG, F(5)).value == 7
    assert (score.score.value, score.score.cost, score.feasible) == (4, 7, False)
    assert score.union_ratio.value == F(4, 7)
    assert score.upper.score.value == 3
    (recency,) = score.pruned
    assert (recency.policy, recency.store, recency.score.value) == (
        "recency", ("long/m1", "long/m3"), 1,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(stores("a"), stores("b"), st.integers(0, 12))
def test_order_of_denominators(first: WrittenStore, second: WrittenStore, budget: int) -> None:
    """More candidates never lower an optimum, and no pruning beats the exact upper bound."""
    scorer = StoreScorer(MEALS, [first, second])
    at = F(budget)
    for store in (first, second):
        score = scorer.score(store, at)
        upper = score.upper.score.value
        assert score.upper_optimum.certified
        assert upper == score.upper_optimum.value
        assert all(row.score.value <= upper for row in score.pruned)
        assert upper <= scorer.union_optimum(store, at).value <= scorer.common_optimum(at).value
        assert scorer.package_optimum(at).value <= scorer.union_optimum(store, at).value
        union = union_package(MEALS, [store])
        assert score.score.value == value(union, store.candidate_ids).low
        if score.feasible:
            assert score.score.value == upper


def test_the_upper_bound_of_an_open_solve_is_no_number() -> None:
    """Its best subset is worth 3 to 5 of 7: two ends, where a number would claim a proof."""
    scorer = StoreScorer(MEALS, [LONG])
    proven = scorer.upper_optimum(LONG, F(5))
    scorer._optima["only long", F(5)] = replace(
        proven, status="bound", certificate=None, bound=proven.value + 2
    )
    score = scorer.score(LONG, F(5))
    assert score.upper.ratio.value is None
    assert score.upper.ratio.between == (F(3, 7), F(5, 7))
    row = score_row(score)["upper_pruned"]
    assert (row["union_ratio"], row["status"], row["bound"]) == (None, "bound", 5)
    assert row["common_union_ratio_between"] == [round(3 / 7, 9), round(5 / 7, 9)]


def test_ids_of_stores_and_memories_do_not_clash() -> None:
    """Memory c of a/b, memory b/c of a; and names that look escaped."""
    pairs = [("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c"), ("a%252Fb", "c")]
    written = [WrittenStore(name, (memory(id, 1, now=1),)) for name, id in pairs]
    assert LONG.candidate_ids[0] == "long/m1"
    scorer = StoreScorer(MEALS, written)
    assert len(scorer.common.candidates) == 2 + 4
    assert scorer.score(written[0], F(5)).score.value == 3


@given(st.lists(st.tuples(st.text("a/%2F", min_size=1), st.text("a/%2F", min_size=1)), unique=True))
def test_candidate_ids_are_unique(pairs: list[tuple[str, str]]) -> None:
    ids = [WrittenStore(name, (memory(id, 1),)).candidate_ids[0] for name, id in pairs]
    assert len(set(ids)) == len(ids)


def test_names_that_clash_are_refused() -> None:
    """A candidate called like a memory of the union, and two stores of one name."""
    like = MEALS.replace(
        candidates=tuple(
            candidate.model_copy(update={"id": "long/m1"}) if candidate.id == "old" else candidate
            for candidate in MEALS.candidates
        ),
        coverage=(),
    )
    with pytest.raises(MemAuditError, match="import the store with another --name"):
        union_package(like, [LONG])
    with pytest.raises(MemAuditError, match="same name"):
        StoreScorer(MEALS, [LONG, WrittenStore("long", ())])

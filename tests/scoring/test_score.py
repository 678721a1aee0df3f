"""Scores against the definition of F, and one rule for denominators."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.core.objective import covered, value
from memaudit.core.package import INVALIDATION_KINDS, Package
from memaudit.generators.registry import named_distribution
from memaudit.scoring.judged_store import WrittenStore
from memaudit.scoring.score import Ratio, Scorer, StoreScorer, bound_text, union_package
from memaudit.scoring.score_json import score_row
from memaudit.solvers.form import integer_form
from memaudit.solvers.solve import solve
from tests.scoring.small_stores import LONG, MEALS, F, memory, stores
from tests.strategies import packages


@given(st.data())
def test_value_and_cost_are_those_of_the_store(data: st.DataObject) -> None:
    """Whole numbers inside, the same rationals outside."""
    package: Package = data.draw(packages())
    ids = sorted(package.candidate)
    store = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    score = Scorer(package, integer_form(package)).score(store)
    assert score.cost == package.total_cost(store)
    amounts = covered(package, store)
    expected = sum(
        (min(Fraction(1), amounts[u.id]) for u in package.units if u.kind in INVALIDATION_KINDS),
        Fraction(0),
    )
    assert score.invalidation == expected
    assert sum(score.kinds.values()) == len(store)
    exact = value(package, store)
    if exact.is_point:
        assert score.value == exact.low
        assert sum(score.unit_values.values()) == exact.low
    else:
        assert abs(score.value - exact.low) < Fraction(1, 10**6)


def test_by_hand() -> None:
    """base, both tombstones and one old fact."""
    package = named_distribution("base").package(0)
    score = Scorer(package, integer_form(package)).score(
        ["e3.fact", "e4.tombstone", "e6.tombstone"]
    )
    assert (score.invalidation, score.current, score.stale) == (2, 0, 1)
    assert score.kinds == {"fact": 1, "tombstone": 2}
    weights = package.weights
    assert score.unit_values == {
        "stale": weights["stale 0"],
        "supersession": weights["invalid 0"] + weights["invalid 1"],
    }


def test_ratio_is_defined(tiny: Package) -> None:
    best = solve(tiny, 100)
    assert Ratio(best.value / 2, best).value == Fraction(1, 2)
    assert Ratio(best.value / 2, best).undefined == ""


def test_zero_optimum_is_undefined(tiny: Package) -> None:
    """At budget 0 nothing can be kept: neither 0 nor 1."""
    best = solve(tiny, 0)
    assert best.value == 0
    assert Ratio(Fraction(0), best).value is None
    assert Ratio(Fraction(0), best).undefined == "optimum is 0"


def test_uncertified_optimum_is_undefined(tiny: Package) -> None:
    best = solve(tiny, 100, check=False)
    assert Ratio(best.value, best).value is None
    assert Ratio(best.value, best).undefined == "optimum not certified"


def test_an_open_optimum_gives_two_ends(tiny: Package) -> None:
    """OPT lies between what was found, 3, and its bound, 4: 3/2 of it is between 3/8 and 1/2."""
    found = replace(solve(tiny, 3, check=False), bound=Fraction(4))
    assert Ratio(Fraction(3, 2), found).between == (Fraction(3, 8), Fraction(1, 2))
    assert Ratio(Fraction(3, 2), solve(tiny, 3)).between is None
    assert Ratio(Fraction(0), solve(tiny, 0, check=False)).between is None


def test_an_open_numerator_gives_two_ends(tiny: Package) -> None:
    """A best subset that is known to lie between 1 and 2 of an optimum of 3; never above it."""
    best = solve(tiny, 3)
    open_ratio = Ratio(Fraction(1), best, highest=Fraction(2))
    assert open_ratio.value is None
    assert open_ratio.undefined == "optimum not certified"
    assert open_ratio.between == (Fraction(1, 3), Fraction(2, 3))
    assert Ratio(Fraction(1), best, highest=Fraction(9)).between == (Fraction(1, 3), 1)


def test_a_bound_in_words(tiny: Package) -> None:
    """With its gap; without one it is the proof that is missing."""
    found = solve(tiny, 3, check=False)
    assert bound_text(replace(found, bound=Fraction(4))) == (
        "is not certified, it lies between 3 and 4"
    )
    assert bound_text(found) == "is 3 by its bound, but its certificate is not finished"


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

"""Scores against the definition of F, and one rule for denominators."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.objective import covered, value
from memaudit.kernel.package.package import INVALIDATION_KINDS, Package
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.score import Ratio, StoreScorer, bound_text
from memaudit.kernel.score.score_json import score_row
from memaudit.kernel.score.store_value import StoreValuer
from memaudit.kernel.solvers.form import integer_form
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.sweeps.generators.registry import named_distribution
from tests.kernel.score.small_stores import LONG, MEALS, F, meals_scores, memory, stores
from tests.strategies import packages


@given(st.data())
def test_value_and_cost_are_those_of_the_store(data: st.DataObject) -> None:
    """Whole numbers inside, the same rationals outside."""
    package: Package = data.draw(packages())
    ids = sorted(package.candidate)
    store = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    score = StoreValuer(package, integer_form(package)).worth(store)
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
    score = StoreValuer(package, integer_form(package)).worth(
        ["e3.fact", "e4.tombstone", "e6.tombstone"]
    )
    assert (score.invalidation, score.current, score.stale) == (2, 0, 1)
    assert score.kinds == {"fact": 1, "tombstone": 2}
    weights = package.weights
    assert score.unit_values == {
        "stale": weights["stale 0"],
        "supersession": weights["invalid 0"] + weights["invalid 1"],
    }


def test_ratios(tiny: Package) -> None:
    """OPT is 3 at budget 3. At budget 0 it is 0: the ratio is neither 0 nor 1. An open OPT lies
    between what was found, 3, and its bound, 4: 3/2 of it is between 3/8 and 1/2. A best subset
    that is known to lie between 1 and 2 is between 1/3 and 2/3 of 3. A store over budget of which
    not everything is judged may be worth more than OPT."""
    proven, nothing = solve(tiny, 3), solve(tiny, 0)
    unproven = solve(tiny, 3, check=False)
    bounded, third = replace(unproven, bound=F(4)), F(1, 3)
    for ratio, exact, undefined, between in (
        (Ratio(F(3, 2), proven), F(1, 2), "", None),
        (Ratio(F(0), nothing), None, "optimum is 0", None),
        (Ratio(F(0), solve(tiny, 0, check=False)), None, "optimum not certified", None),
        (Ratio(F(3, 2), bounded), None, "optimum not certified", (F(3, 8), F(1, 2))),
        (Ratio(F(1), proven, highest=F(2)), None, "optimum not certified", (third, F(2, 3))),
        (Ratio(F(1), proven, highest=F(9)), None, "optimum not certified", (third, F(3))),
    ):
        assert (ratio.value, ratio.undefined, ratio.between) == (exact, undefined, between)
    assert bound_text(bounded) == "is not certified, it lies between 3 and 4"
    assert bound_text(unproven) == "is 3 by its bound, but its certificate is not finished"


def test_union_by_hand() -> None:
    """At budget 5 the package alone reaches 6; with m1 of the store, 7. The store is worth 4 and
    costs 7, so recency cuts it to m1 and m3, worth 1: all ratios are of that. Its best subset is
    m2, worth 3."""
    assert solve(MEALS, 5).value == 6
    scorer = StoreScorer(MEALS, [LONG])
    found = scorer.numbers(LONG, F(5))
    assert scorer.package_optimum(F(5)).value == 6
    assert scorer.union_optimum(LONG, F(5)).value == 7
    assert (found.written.value, found.written.cost, found.fits) == (4, 7, False)
    assert (found.kept.by, found.kept.ids) == ("recency", ("long/m1", "long/m3"))
    assert (found.kept.worth.value, found.kept.worth.cost) == (1, 2)
    assert found.kept.ratio.value == found.kept.union_ratio.value == F(1, 7)
    assert found.kept.package_ratio.value == F(1, 6)
    assert (found.best.by, found.best.ids) == ("best subset", ("long/m2",))
    assert (found.best.worth.value, found.best.ratio.value) == (3, F(3, 7))
    assert found.policies == (found.kept,)
    everything = scorer.numbers(LONG, F(7))
    assert (everything.kept.by, everything.kept.ids) == ("everything fits", LONG.candidate_ids)
    assert everything.kept.worth == everything.written


def test_over_the_package_alone_a_ratio_may_exceed_1() -> None:
    """A store that says all in 2 words: at 4 the package alone reaches 6, the store 7. Over a union
    with the store it is never more than 1."""
    short = JudgedStore("short", (memory("m", 1, now=1, ended=1), memory("n", 1, once=1)))
    at_4 = StoreScorer(MEALS, [short]).numbers(short, F(4))
    assert (at_4.kept.package_ratio.value, at_4.kept.union_ratio.value) == (F(7, 6), 1)
    assert at_4.kept.ratio.value == at_4.best.ratio.value == 1


@settings(max_examples=60, deadline=None)
@given(stores("a"), stores("b"), st.integers(0, 12))
def test_order_of_denominators(first: JudgedStore, second: JudgedStore, budget: int) -> None:
    """More candidates never lower an optimum, and no pruning beats the exact upper bound."""
    scorer = StoreScorer(MEALS, [first, second])
    at = F(budget)
    for store in (first, second):
        found = scorer.numbers(store, at)
        best = found.best.worth.value
        assert found.best_optimum.certified
        assert best == found.best_optimum.value
        assert all(row.worth.value <= best for row in (found.kept, *found.policies))
        assert best <= scorer.union_optimum(store, at).value <= scorer.common_optimum(at).value
        assert scorer.package_optimum(at).value <= scorer.union_optimum(store, at).value
        union = StoreScorer(MEALS, [store]).common
        assert found.written.value == value(union, store.candidate_ids).low
        for kept in (found.kept, *found.policies):
            assert kept.worth.cost <= at
            assert kept.worth.value == value(union, kept.ids).low
            assert kept.ratio.value is None or 0 <= kept.ratio.value <= 1
        if found.fits:
            assert found.kept.worth == found.written
            assert found.written.value == best


def test_the_upper_bound_of_an_open_solve_is_no_number() -> None:
    """Its best subset is worth 3 to 5 of 7: two ends, where a number would claim a proof."""
    scorer = StoreScorer(MEALS, [LONG])
    proven = scorer.alone_optimum(LONG, F(5))
    scorer._alone(LONG)._optima[F(5)] = replace(
        proven, status="bound", certificate=None, bound=proven.value + 2
    )
    found = scorer.numbers(LONG, F(5))
    assert found.best.ratio.value is None
    assert found.best.ratio.between == (F(3, 7), F(5, 7))
    (proven_row,) = meals_scores(5).rows
    row = score_row(replace(proven_row, numbers=found))["best_subset"]
    assert (row["ratio"], row["status"], row["bound"]) == (None, "bound", 5)
    assert row["between"] == [round(3 / 7, 9), round(5 / 7, 9)]


@given(st.lists(st.tuples(st.text("a/%2F", min_size=1), st.text("a/%2F", min_size=1)), unique=True))
@example([("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c"), ("a%252Fb", "c")])
def test_candidate_ids_are_unique(pairs: list[tuple[str, str]]) -> None:
    ids = [JudgedStore(name, (memory(id, 1),)).candidate_ids[0] for name, id in pairs]
    assert len(set(ids)) == len(ids)


def test_names_that_clash_are_refused() -> None:
    """A candidate called like a memory of the union, and two stores of one name."""
    first = MEALS.candidates[0].model_copy(update={"id": LONG.candidate_ids[0]})
    like = MEALS.replace(candidates=(first,), coverage=())
    with pytest.raises(MemAuditError, match="import the store with another --name"):
        StoreScorer(like, [LONG]).common_optimum(F(5))
    with pytest.raises(MemAuditError, match="two stores are called 'long'; rename one"):
        StoreScorer(MEALS, [LONG, JudgedStore("long", ())])

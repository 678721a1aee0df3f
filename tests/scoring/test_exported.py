"""Exported stores: definitions checked on random packages and stores."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.core.objective import value
from memaudit.core.package import Package
from memaudit.core.response import Log1p, Sqrt
from memaudit.scoring.diagnosis import NoDiagnosis, diagnose
from memaudit.scoring.package_scores import diagnosis_row, scorecard
from memaudit.scoring.pruning import pruned
from memaudit.scoring.store_scores import ExportAudit
from memaudit.scoring.union import Cell, WrittenMemory, WrittenStore, union_package
from memaudit.solvers.solve import solve

F = Fraction
MEALS = Package.model_validate(
    {
        "name": "meals",
        "experiences": [{"id": "e1"}, {"id": "e2"}],
        "candidates": [
            {"id": "old", "experience": "e1", "kind": "fact", "cost": 2},
            {"id": "both", "experience": "e2", "kind": "compound_update", "cost": 4},
        ],
        "units": [
            {"id": "now", "kind": "current", "weight": 3},
            {"id": "ended", "kind": "supersession", "weight": 3},
            {"id": "once", "kind": "stale", "weight": 1},
        ],
        "queries": [{"id": "q", "required": ["now", "ended"]}, {"id": "p", "required": ["once"]}],
        "coverage": [
            {"candidate": "old", "unit": "once", "value": 1},
            {"candidate": "both", "unit": "now", "value": 1},
            {"candidate": "both", "unit": "ended", "value": 1},
        ],
    }
)


def memory(id: str, cost: int, **covers: object) -> WrittenMemory:
    """A memory with exact labels."""
    cells = {unit: Cell(F(str(share)), "test") for unit, share in covers.items()}
    return WrittenMemory(id, f"text of {id}", F(cost), cells)


LONG = WrittenStore("long", (memory("m1", 1, once=1), memory("m2", 5, now=1), memory("m3", 1)))


def test_union_by_hand() -> None:
    """At budget 5 the package alone reaches 6; with m1 of the store, 7."""
    assert solve(MEALS, 5).value == 6
    audit = ExportAudit(MEALS, [LONG])
    score = audit.score(LONG, F(5))
    assert audit.package_optimum(F(5)).value == 6
    assert audit.union_optimum(LONG, F(5)).value == 7
    assert (score.score.value, score.score.cost, score.feasible) == (4, 7, False)
    assert score.union_ratio.value == F(4, 7)
    assert score.upper.score.value == 3
    (recency,) = score.pruned
    assert (recency.policy, recency.store, recency.score.value) == (
        "recency", ("long/m1", "long/m3"), 1,
    )  # fmt: skip


def test_diagnosis_by_hand() -> None:
    """Of 7: 3 never written (ended), 1 does not fit (once beside now), 2 chosen badly, 1 kept."""
    found = diagnose(ExportAudit(MEALS, [LONG]), LONG, F(5))
    assert {step.name: step.value for step in found.steps} == {
        "generation": 0, "extraction": 3, "cost": 1, "selection": 2,
    }  # fmt: skip
    assert found.kept_share == F(1, 7)
    extraction = found.steps[1]
    assert extraction.units == (("ended", F(3)),)
    assert extraction.queries == ("q",)
    assert "extraction" in found.advice


def test_the_heaviest_questions_come_first() -> None:
    """However the file orders them; of equal ones the first by name."""
    data = MEALS.model_dump()
    data["queries"] = [
        {"id": id, "required": ["ended"], "importance": weight}
        for id, weight in (("a", 1), ("d", 2), ("b", 7), ("c", 2))
    ]
    for unit in data["units"]:
        unit["weight"] = None  # what the questions make it
    package = Package.model_validate(data)
    found = diagnose(ExportAudit(package, [LONG]), LONG, F(5))
    assert found.steps[1].queries == ("b", "c", "d", "a")


def test_what_fits_is_kept() -> None:
    """A store within the budget has no cost or selection loss."""
    found = diagnose(ExportAudit(MEALS, [LONG]), LONG, F(7))
    assert found.policy == "everything fits"
    assert [step.value for step in found.steps[2:]] == [0, 0]


def test_salience_needs_every_memory() -> None:
    """A policy without its numbers is left out, not guessed."""
    assert pruned(LONG, F(5), "salience") is None
    rated = WrittenStore(
        "rated",
        tuple(
            WrittenMemory(m.id, m.text, m.cost, m.coverage, salience=F(n))
            for n, m in enumerate(reversed(LONG.memories))
        ),
    )
    assert pruned(rated, F(5), "salience") is not None
    assert pruned(rated, F(5), "query_salience") is None


@st.composite
def stores(draw: st.DrawFn, name: str) -> WrittenStore:
    """A few memories over the units of MEALS."""
    memories = draw(
        st.lists(
            st.tuples(
                st.integers(1, 6),
                st.dictionaries(
                    st.sampled_from(["now", "ended", "once"]), st.sampled_from(["0.5", "1"])
                ),
            ),
            max_size=5,
        )
    )
    return WrittenStore(
        name, tuple(memory(f"m{n}", cost, **covers) for n, (cost, covers) in enumerate(memories))
    )


@settings(max_examples=60, deadline=None)
@given(stores("a"), stores("b"), st.integers(1, 12))
def test_losses_add_up_to_one(first: WrittenStore, second: WrittenStore, budget: int) -> None:
    """Exactly, each at least 0, and unit parts add up to their step."""
    audit = ExportAudit(MEALS, [first, second])
    for store in (first, second):
        found = diagnose(audit, store, F(budget)) if audit.common_optimum(F(budget)).value else None
        if found is None:
            continue
        assert sum(step.share for step in found.steps) + found.kept_share == 1
        for step in found.steps:
            assert step.value >= 0
            assert sum(part for _, part in step.units) == step.value


@settings(max_examples=60, deadline=None)
@given(stores("a"), stores("b"), st.integers(0, 12))
def test_order_of_denominators(first: WrittenStore, second: WrittenStore, budget: int) -> None:
    """More candidates never lower an optimum, and no pruning beats the exact upper bound."""
    audit = ExportAudit(MEALS, [first, second])
    at = F(budget)
    for store in (first, second):
        score = audit.score(store, at)
        upper = score.upper.score.value
        assert score.upper_optimum.certified
        assert upper == score.upper_optimum.value
        assert all(row.score.value <= upper for row in score.pruned)
        assert upper <= audit.union_optimum(store, at).value <= audit.common_optimum(at).value
        assert audit.package_optimum(at).value <= audit.union_optimum(store, at).value
        union = union_package(MEALS, [store])
        assert score.score.value == value(union, store.candidate_ids).low
        if score.feasible:
            assert score.score.value == upper


def test_zero_optimum() -> None:
    """No shares of nothing."""
    with pytest.raises(NoDiagnosis, match="the optimum is 0") as caught:
        diagnose(ExportAudit(MEALS, [LONG]), LONG, F(0))
    assert (caught.value.undefined, caught.value.basis) == ("optimum is 0", "common union")


def test_no_diagnosis_without_a_proof() -> None:
    """It says which optimum is open and how far it is known, as text and as data."""
    audit = ExportAudit(MEALS, [LONG])
    proven = audit.upper_optimum(LONG, F(5))
    still_open = replace(proven, status="bound", certificate=None, bound=proven.value + 2)
    audit._optima["only long", F(5)] = still_open
    with pytest.raises(NoDiagnosis) as caught:
        diagnose(audit, LONG, F(5))
    assert str(caught.value) == (
        "no diagnosis of 'long' at budget 5: the optimum of the store alone is not certified, it "
        "lies between 3 and 5"
    )
    row = diagnosis_row(caught.value)
    assert (row["undefined"], row["basis"]) == ("optimum not certified", "store alone")
    assert (row["optimum"], row["bound"], row["status"]) == (3, 5, "bound")


def test_the_upper_bound_of_an_open_solve_is_no_number() -> None:
    """Its best subset is worth 3 to 5 of 7: two ends, where a number would claim a proof."""
    audit = ExportAudit(MEALS, [LONG])
    proven = audit.upper_optimum(LONG, F(5))
    audit._optima["only long", F(5)] = replace(
        proven, status="bound", certificate=None, bound=proven.value + 2
    )
    score = audit.score(LONG, F(5))
    assert score.upper.ratio.value is None
    assert score.upper.ratio.between == (F(3, 7), F(5, 7))
    row = scorecard(score)["upper_pruned"]
    assert (row["union_ratio"], row["status"], row["bound"]) == (None, "bound", 5)
    assert row["common_union_ratio_between"] == [round(3 / 7, 9), round(5 / 7, 9)]


IRRATIONAL = MEALS.replace(
    units=tuple(
        unit.model_copy(update={"response": response})
        for unit, response in zip(MEALS.units, (Sqrt(), Log1p(), Sqrt()), strict=True)
    )
)


def true_worth(store: Iterable[Mapping[str, Fraction]]) -> float:
    """F of a few candidates with the responses of IRRATIONAL, in floating point."""
    total: Counter[str] = Counter()
    for covers in store:
        total.update({unit: float(share) for unit, share in covers.items()})
    return 3 * math.sqrt(total["now"]) + 3 * math.log1p(total["ended"]) + math.sqrt(total["once"])


def true_optimum(candidates: list[tuple[int, Mapping[str, Fraction]]], budget: int) -> float:
    """By trying everything."""
    return max(
        true_worth(covers for _, covers in chosen)
        for size in range(len(candidates) + 1)
        for chosen in combinations(candidates, size)
        if sum(cost for cost, _ in chosen) <= budget
    )


@settings(max_examples=40, deadline=None)
@given(stores("a"), stores("b"), st.integers(2, 9))
def test_irrational_values_are_diagnosed_too(
    first: WrittenStore, second: WrittenStore, budget: int
) -> None:
    """Shares sum to 1 exactly, and each encloses what floating point and brute force find."""
    audit = ExportAudit(IRRATIONAL, [first, second])
    own = [(2, {"once": F(1)}), (4, {"now": F(1), "ended": F(1)})]
    of = {
        store.name: [
            (int(one.cost), {unit: cell.value for unit, cell in one.coverage.items()})
            for one in store.memories
        ]
        for store in (first, second)
    }
    whole = true_optimum([*own, *of["a"], *of["b"]], budget)
    for store in (first, second):
        found = diagnose(audit, store, F(budget))
        assert sum(step.share for step in found.steps) + found.kept_share == 1
        for step in found.steps:
            assert step.value >= 0
            assert step.between.low <= step.share <= step.between.high
        assert found.precision < F(1, 10**8)
        generation, selection = found.steps[0].between, found.steps[3].between
        best = true_optimum(of[store.name], budget)
        kept = true_worth(
            {unit: cell.value for unit, cell in one.coverage.items()}
            for one in store.memories
            if store.candidate_id(one) in found.kept
        )
        union = true_optimum([*own, *of[store.name]], budget)
        for between, share in (
            (generation, (whole - union) / whole),
            (selection, (best - kept) / whole),
            (found.kept_between, kept / whole),
        ):
            assert float(between.low) - 1e-9 <= share <= float(between.high) + 1e-9
        row = diagnosis_row(found)
        assert row["exact"] == found.is_exact
        assert ("kept_between" in row) == (not found.is_exact)


def test_ids_of_stores_and_memories_do_not_clash() -> None:
    """Memory c of a/b, memory b/c of a; and names that look escaped."""
    pairs = [("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c"), ("a%252Fb", "c")]
    made = [WrittenStore(name, (memory(id, 1, now=1),)) for name, id in pairs]
    assert len({one.candidate_ids for one in made}) == 4
    assert WrittenStore("long", LONG.memories).candidate_ids[0] == "long/m1"
    audit = ExportAudit(MEALS, made)
    assert len(audit.common.candidates) == 2 + 4
    assert audit.score(made[0], F(5)).score.value == 3


@given(st.lists(st.tuples(st.text("a/%2F", min_size=1), st.text("a/%2F", min_size=1)), unique=True))
def test_candidate_ids_are_unique(pairs: list[tuple[str, str]]) -> None:
    """Whatever the names are."""
    ids = [WrittenStore(name, (memory(id, 1),)).candidate_ids[0] for name, id in pairs]
    assert len(set(ids)) == len(ids)


def test_a_clash_with_the_package_is_said() -> None:
    """A candidate that is called like a memory of the union: one line, and what to do."""
    like = MEALS.replace(
        candidates=tuple(
            one.model_copy(update={"id": "long/m1"}) if one.id == "old" else one
            for one in MEALS.candidates
        ),
        coverage=(),
    )
    with pytest.raises(MemAuditError, match="import the store with another --name"):
        union_package(like, [LONG])


def test_what_was_never_written_is_not_too_dear() -> None:
    """A store rich in other units that lacks the one OPT is made of: an extraction loss."""
    units = [{"id": "big", "kind": "fact", "weight": 10}]
    units += [{"id": f"u{n}", "kind": "fact", "weight": 1} for n in range(10)]
    package = Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": "e"}],
            "candidates": [{"id": "c", "experience": "e", "kind": "fact", "cost": 5}],
            "units": units,
            "coverage": [{"candidate": "c", "unit": "big", "value": 1}],
        }
    )
    many = WrittenStore("many", tuple(memory(f"m{n}", 5, **{f"u{n}": 1}) for n in range(10)))
    found = diagnose(ExportAudit(package, [many]), many, F(5))
    assert {step.name: step.value for step in found.steps} == {
        "generation": 0, "extraction": 9, "cost": 0, "selection": 0,
    }  # fmt: skip
    assert "extraction" in found.advice


def test_stores_of_one_name_are_refused() -> None:
    """Their optima would be taken for each other's."""
    with pytest.raises(MemAuditError, match="same name"):
        ExportAudit(MEALS, [LONG, WrittenStore("long", ())])

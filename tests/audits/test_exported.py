"""Exported stores: definitions checked on random packages and stores."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.audits.diagnosis import diagnose
from memaudit.audits.exported import ExportAudit
from memaudit.audits.pruning import pruned
from memaudit.audits.union import Cell, WrittenMemory, WrittenStore, union_package
from memaudit.core.errors import MemAuditError
from memaudit.core.objective import value
from memaudit.core.package import Package
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
    with pytest.raises(MemAuditError, match="the optimum is 0"):
        diagnose(ExportAudit(MEALS, [LONG]), LONG, F(0))


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

"""The one number of a gate, and how it reads."""

from dataclasses import replace

import pytest

from memaudit.adapters.store import ImportCount, Memory
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.scoring.caveats import NO_CAVEATS, Caveats
from memaudit.scoring.gate import GateResult, gate_store
from memaudit.scoring.judges import LexicalJudge
from tests.scoring.small_stores import F, exported

TWO = Package.model_validate({
    "name": "two", "cost_rule": "words", "experiences": [{"id": "e"}],
    "candidates": [{"id": "a", "experience": "e", "kind": "fact", "text": "fish", "cost": 1},
                   {"id": "b", "experience": "e", "kind": "fact", "text": "dog", "cost": 1}],
    "units": [{"id": "u", "kind": "fact", "text": "Ann eats fish now.", "weight": 1},
              {"id": "v", "kind": "fact", "text": "Bo has a dog.", "weight": 1}],
    "coverage": [{"candidate": "a", "unit": "u", "value": 1},
                 {"candidate": "b", "unit": "v", "value": 1}],
})  # fmt: skip
STORE = exported(
    Memory(id="m", text="Ann eats fish now"),
    count=ImportCount(read=3, kept=1, skipped={"no text": 2}),
)
OPEN = GateResult("s", 0.4, 0.6, "everything fits", (F(0), F(1, 20)), False, False, NO_CAVEATS)


def test_group_cap() -> None:
    """Within 4 nothing fits beside the memory: 1 of 1. Within 5 a candidate does: 1 of 2."""
    assert gate_store(TWO, STORE, F(4), LexicalJudge()).ratio == 1
    assert gate_store(TWO, STORE, F(5), LexicalJudge()).ratio == 0.5
    # Without room for the memory beside a candidate the cap decides.
    small = exported(Memory(id="m", text="fish Ann eats now too"))
    assert gate_store(TWO, small, F(5), LexicalJudge()).ratio == 1
    assert gate_store(TWO, small, F(5), LexicalJudge(), group_cap=2).ratio == 0.5


def test_what_it_does_not_see_is_said() -> None:
    found = gate_store(TWO, STORE, F(4), LexicalJudge())
    assert found.notes == (
        "everything fits, an ESTIMATE: 0.0% of the optimum and 100.0% of the store rest on "
        "assumed cells, and so does every 0, PARTLY READ: 2 rows of the export are not in the store"
    )
    assert found.certified
    assert found.reaches == "1.0000"


def test_a_perfect_store_where_h_is_irrational() -> None:
    """It reaches the bar of 1, although its value is known to 2^-32 only."""
    data = TWO.model_dump()
    for unit in data["units"]:
        unit["response"] = {"shape": "log1p"}
    logarithmic = Package.model_validate(data)
    found = gate_store(logarithmic, STORE, F(4), LexicalJudge())
    assert found.certified
    assert found.ratio < 1
    assert found.passes(1, allow_estimates=True)
    assert not gate_store(logarithmic, STORE, F(5), LexicalJudge()).passes(
        0.6, allow_estimates=True
    )


def test_an_estimate_is_refused_unless_it_is_allowed() -> None:
    found = gate_store(TWO, STORE, F(4), LexicalJudge())
    with pytest.raises(
        MemAuditError, match=r"'s' is an estimate, 0\.0% of the optimum and 100\.0%"
    ):
        found.passes(0.5)
    assert found.passes(0.5, allow_estimates=True)


def test_a_bar_that_an_open_optimum_decides() -> None:
    """Between 0.4 and 0.6: 0.4 is reached for certain, 0.7 is not, 0.5 is not decided."""
    assert OPEN.passes(0.4)
    assert not OPEN.passes(0.7)
    with pytest.raises(
        MemAuditError, match=r"not decided: 's' reaches between 0\.4000 and 0\.6000"
    ):
        OPEN.passes(0.5)
    assert OPEN.reaches == "0.4000 to 0.6000 (optimum not certified)"
    known = replace(OPEN, highest=0.4, certified=True, caveats=Caveats(undecided=(("m", "u"),)))
    assert not known.passes(0.5)
    assert known.notes == (
        "everything fits, 0.0% of the optimum and 5.0% of the store rest on assumed cells, "
        "1 cell got no answer and counts as not covered"
    )

"""What stores and writers hold within a budget."""

from dataclasses import replace
from fractions import Fraction

import pytest

from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin
from memaudit.kernel.package.objective import violations
from memaudit.lab.downstream.store_cases import (
    StoreChoice,
    exported_store,
    make_cases,
    named_policy,
    writer_store,
)
from memaudit.lab.sweeps.generators.registry import named_distribution
from memaudit.lab.sweeps.writers.registry import named_writer
from tests.lab.downstream.small import PACKAGE

ORIGIN = Origin(system="s", format="plain")
TEXTS = ("Bob has a dog called Rex.", "Ann follows a pescatarian diet now.", "Soup.")


def store(
    name: str = "s", example: str | None = None, salience: float | None = None
) -> ExportedStore:
    """Three memories of 6, 6 and 1 words."""
    memories = tuple(
        Memory(id=f"m{at}", text=text, example=example, salience=salience and salience - at)
        for at, text in enumerate(TEXTS)
    )
    return ExportedStore(name=name, origin=ORIGIN, memories=memories)


def test_everything_fits() -> None:
    """All is kept, with the judge's coverage."""
    found = exported_store(PACKAGE, store(), LexicalJudge(), Fraction(13), "recency")
    assert (found.kept_by, found.kept_ids) == ("everything fits", {"m0", "m1", "m2"})
    assert [set(memory.covers) for memory in found.written] == [{"dog"}, {"now", "old"}, set()]


def test_cut_to_the_budget() -> None:
    """The newest that fit, or the most salient; what is pruned stays written."""
    newest = exported_store(PACKAGE, store(), LexicalJudge(), Fraction(7), "recency")
    assert (newest.kept_by, newest.kept_ids) == ("cut by recency", {"m1", "m2"})
    assert len(newest.written) == 3
    rated = exported_store(PACKAGE, store(salience=9.0), LexicalJudge(), Fraction(7), "salience")
    assert rated.kept_ids == {"m0", "m2"}
    with pytest.raises(MemAuditError, match="no salience for every memory"):
        exported_store(PACKAGE, store(), LexicalJudge(), Fraction(7), "salience")


@pytest.mark.parametrize("name", ["opt", "mem0_style", "random_feasible"])
def test_a_writer_keeps_what_it_writes(name: str) -> None:
    """Feasible, the same for the same seed, with the package's own coverage."""
    package = named_distribution("event_graph:experiences=12").package(3)
    budget = package.budgets[-1]
    found = writer_store(package, named_writer(name), budget)
    ids = [memory.id for memory in found.written]
    assert violations(package, ids, budget, package.group_cap) == []
    assert (found.kept_ids, found.kept_by) == (set(ids), "written within the budget")
    assert found == writer_store(package, named_writer(name), budget)
    cells = {(c.candidate, c.unit): c.value for c in package.coverage if c.candidate in set(ids)}
    assert cells == {
        (memory.id, unit): value
        for memory in found.written
        for unit, value in memory.covers.items()
    }


def test_cases() -> None:
    """Every store for every package; what is out of the pool or has no question is left out."""
    out = PACKAGE.replace(name="out", attributes={"scoring_pool": False})
    mute = PACKAGE.replace(name="mute", queries=())
    wanted = StoreChoice(Fraction(7), [store()], LexicalJudge())
    made = make_cases([out, PACKAGE, mute], wanted)
    assert [case.package for case in made.cases] == ["ann"]
    assert made.left_out == {
        "out": "'out' is out of the scoring pool",
        "mute": "'mute' has no question",
    }
    assert made.settings["coverage_is_an_estimate"] is True
    assert (made.settings["budget"], made.settings["policy"]) == (7, "recency")
    assert made.settings["kept_by"] == {"s": {"cut by recency": 1}}
    given = make_cases([PACKAGE], replace(wanted, policy="recency"))
    assert given.settings["policy"] == "recency"
    assert given.cases == made.cases
    with pytest.raises(MemAuditError, match="nothing to diagnose: 'out' is out"):
        make_cases([out], wanted)


def test_whose_memory_it_is() -> None:
    """With several packages a store must say it, and must have been written for all of them."""
    two = [PACKAGE, PACKAGE.replace(name="bob")]
    with pytest.raises(MemAuditError, match="does not say which package"):
        make_cases(two, StoreChoice(Fraction(7), [store()], LexicalJudge()))
    with pytest.raises(MemAuditError, match="was not written for the package 'bob'"):
        make_cases(two, StoreChoice(Fraction(7), [store(example="ann")], LexicalJudge()))
    for name in ("fifo", "query_salience"):
        with pytest.raises(MemAuditError, match=f"unknown policy '{name}'; choose from recency, t"):
            named_policy(name)
    assert named_policy("top") == "top"

"""Stores that stay the same under every label set."""

from collections.abc import Sequence

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.experiments.evaluate import Subject
from memaudit.label_audit.audited_package import case_of
from memaudit.label_audit.fixed_stores import DEFAULT_WRITERS, Writing, entries, kept
from memaudit.natural.named_packages import natural_set
from memaudit.scoring.union import WrittenMemory, WrittenStore
from memaudit.writers import registry
from memaudit.writers.registry import WRITERS, named_writer
from tests.label_audit.ratios.tiny import F, case, package

BUDGETS = (F(1), F(2))


def memories(name: str, costs: Sequence[int]) -> WrittenStore:
    """Memories m0, m1, ... of these costs, oldest first."""
    found = (WrittenMemory(f"m{at}", f"t{at}", F(cost)) for at, cost in enumerate(costs))
    return WrittenStore(name, tuple(found))


def test_writers_keep_what_they_keep_in_sweeps() -> None:
    """The same stores as `memaudit run` gets, also from writers that throw dice."""
    one = natural_set()[0]
    writers = ("gvt", "random_feasible", "reservoir_raw", "estimated_gvt")
    found = kept(Writing(case_of(one), writers, (F(60),), seed=7))
    subject = Subject(one)
    assert found.failed == {}
    assert found.stores == {
        (name, F(60)): subject.written_by(named_writer(name), F(60), 7) for name in writers
    }


def test_exported_stores_are_cut_by_recency() -> None:
    """Whole where everything fits; else the newest that fit, m1 being too dear."""
    both = case_of(package(), [memories("s", [1, 2, 1])])
    found = kept(Writing(both, ("recency_raw",), (F(4), F(2)), seed=0))
    assert found.stores["s", F(4)] == ("s/m0", "s/m1", "s/m2")
    assert found.stores["s", F(2)] == ("s/m0", "s/m2")
    assert found.stores["recency_raw", F(2)] == ("b", "c")


def test_a_writer_that_fails_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its store is missing, with a reason; the others are there."""

    class Greedy:
        name = "all"
        peeks = False

        def write(self, view: object, budget: object, seed: int) -> tuple[str, ...]:  # noqa: ARG002
            return ("a", "b", "c")

    monkeypatch.setitem(registry.WRITERS, "all", Greedy())
    found = kept(Writing(case(), ("all", "recency_raw"), (F(2), F(3)), seed=0))
    assert list(found.failed) == [("all", F(2))]
    assert "broke the rules: cost 3 exceeds the budget 2" in found.failed["all", F(2)]
    assert found.stores["all", F(3)] == ("a", "b", "c")


def test_who_is_scored() -> None:
    """Writers, then stores of any package; two of one name are refused."""
    cases = [case("x"), case_of(package("y"), [memories("s", [1])])]
    assert entries(cases, ("gvt", "recency_raw")) == ("gvt", "recency_raw", "s")
    with pytest.raises(MemAuditError, match="a store and a writer are called 's'"):
        entries(cases, ("s",))


def test_writers_by_default() -> None:
    """The reference, and what could be deployed without optional parts."""
    assert DEFAULT_WRITERS[0] == "gvt"
    assert all(not WRITERS[name].peeks for name in DEFAULT_WRITERS[1:])
    assert "recency_raw" in DEFAULT_WRITERS
    assert not any("embedding" in name for name in DEFAULT_WRITERS)

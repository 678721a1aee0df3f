"""Stores that stay the same under every label set."""

from collections.abc import Sequence

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.priced_store import JudgedStore, WrittenMemory
from memaudit.lab.labels.audited_package import (
    DEFAULT_WRITERS,
    StoreTask,
    audited_package,
    fixed_stores,
    store_names,
)
from memaudit.lab.sweeps.runs.sweep import EvaluatedPackage
from memaudit.lab.sweeps.writers import registry
from memaudit.lab.sweeps.writers.registry import WRITERS, named_writer
from tests.lab.labels.tiny_package import F, audited, package

BUDGETS = (F(1), F(2))


def memories(name: str, costs: Sequence[int]) -> JudgedStore:
    """Memories m0, m1, ... of these costs, oldest first."""
    found = (WrittenMemory(f"m{at}", f"t{at}", F(cost)) for at, cost in enumerate(costs))
    return JudgedStore(name, tuple(found))


def test_writers_keep_what_they_keep_in_sweeps() -> None:
    one = short_set()[0]
    writers = ("gvt", "random_feasible", "reservoir_raw", "estimated_gvt")
    found = fixed_stores(StoreTask(audited_package(one), writers, (F(60),), seed=7))
    subject = EvaluatedPackage(one)
    assert found.failed == {}
    assert found.stores == {
        (name, F(60)): subject.written_by(named_writer(name), F(60), 7) for name in writers
    }


def test_exported_stores_are_cut_by_recency() -> None:
    """Whole where everything fits; else the newest that fit, m1 being too dear."""
    both = audited_package(package(), [memories("s", [1, 2, 1])])
    found = fixed_stores(StoreTask(both, ("recency_raw",), (F(4), F(2)), seed=0))
    assert found.stores["s", F(4)] == ("s/m0", "s/m1", "s/m2")
    assert found.stores["s", F(2)] == ("s/m0", "s/m2")
    assert found.stores["recency_raw", F(2)] == ("b", "c")


def test_a_store_keeps_every_text_once() -> None:
    """a of the writer and m0 of the store are "dog" and one candidate; m2 is m1 again."""
    texts = {"m0": "Dog.", "m1": "cow", "m2": "COW"}
    store = JudgedStore("s", tuple(WrittenMemory(id, text, F(1)) for id, text in texts.items()))
    both = audited_package(package(equal_texts_once=True), [store])
    found = fixed_stores(StoreTask(both, ("gvt",), (F(3), F(1)), seed=0))
    assert found.stores["s", F(3)] == ("a", "s/m1")
    assert found.stores["gvt", F(1)] == ("a",)


def test_a_writer_that_fails_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Greedy:
        name = "all"
        peeks = False

        def write(self, view: object, budget: object, seed: int) -> tuple[str, ...]:  # noqa: ARG002
            return ("a", "b", "c")

    monkeypatch.setitem(registry.WRITERS, "all", Greedy())
    found = fixed_stores(StoreTask(audited(), ("all", "recency_raw"), (F(2), F(3)), seed=0))
    assert list(found.failed) == [("all", F(2))]
    assert "broke the rules: cost 3 exceeds the budget 2" in found.failed["all", F(2)]
    assert found.stores["all", F(3)] == ("a", "b", "c")


def test_who_is_scored() -> None:
    cases = [audited("x"), audited_package(package("y"), [memories("s", [1])])]
    assert store_names(cases, ("gvt", "recency_raw")) == ("gvt", "recency_raw", "s")
    with pytest.raises(MemAuditError, match="a store and a writer are called 's'"):
        store_names(cases, ("s",))


def test_writers_by_default() -> None:
    assert DEFAULT_WRITERS[0] == "gvt"
    assert all(not WRITERS[name].peeks for name in DEFAULT_WRITERS[1:])
    assert "recency_raw" in DEFAULT_WRITERS

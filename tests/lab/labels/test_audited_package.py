"""Packages with exported stores beside them, and which memories a label is about."""

from fractions import Fraction

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.score.judge import Cell
from memaudit.kernel.score.priced_store import JudgedStore, WrittenMemory
from memaudit.lab.labels.audited_package import (
    audited_package,
    changes,
    check_distinct_names,
    own_values,
    relabelled,
)
from tests.lab.labels.tiny_package import F, audited, package


def store(name: str, **texts: str) -> JudgedStore:
    half = {"u": Cell(F(1, 2), "judge")}
    return JudgedStore(
        name, tuple(WrittenMemory(id, text, F(1), half) for id, text in texts.items())
    )


def test_without_stores_the_package_is_what_is_scored() -> None:
    alone = audited()
    assert alone.scored is alone.package
    assert (alone.name, alone.basis) == ("pets", "package")
    labels = {("a", "u"): F(1)}
    assert alone.spread(labels).labels == labels


def test_names_of_memories() -> None:
    both = audited_package(package(), [store("s", m="old dog", n="x"), store("t", m="y")])
    assert both.basis == "common union"
    assert [both.cell(name, "u")[0] for name in ("a", "s/m", "n")] == ["a", "s/m", "s/n"]
    for name in ("m", "z"):
        with pytest.raises(MemAuditError, match=f"labels name '{name}', which is neither"):
            both.cell(name, "u")


def test_the_same_words_are_labelled_alike() -> None:
    both = audited_package(package(), [store("s", m=" dog ", n="other")])
    assert both.spread({("a", "u"): F(1), ("b", "u"): F(1)}).labels == {
        ("a", "u"): 1,
        ("b", "u"): 1,
        ("s/m", "u"): 1,
    }
    own = both.spread({("a", "u"): F(1), ("s/m", "u"): F(0)})
    assert own.labels["s/m", "u"] == 0
    assert own.contradicting == 0


@pytest.mark.parametrize(("cost", "stands"), [(F(1), "a"), (F(1, 2), "s/m")])
def test_equal_texts_are_one_candidate(cost: Fraction, stands: str) -> None:
    """The cheaper of both stands for it, by whatever name labels and stores call it."""
    half = {"u": Cell(F(1, 2), "judge"), "v": Cell(F(1, 2), "judge")}
    memories = (WrittenMemory("m", "Dog!", cost, half), WrittenMemory("n", "cow", F(1)))
    both = audited_package(package(equal_texts_once=True), [JudgedStore("s", memories)])
    assert {one.id for one in both.scored.candidates} == {"b", "c", "s/n", stands}
    assert {both.cell(name, "u")[0] for name in ("a", "s/m", "m")} == {stands}
    assert own_values(both.scored) == {(stands, "u"): 1, (stands, "v"): F(1, 2), ("b", "v"): 1}
    assert both.spread({(stands, "u"): F(0)}).labels == {(stands, "u"): 0}


def test_contradicting_labels_of_the_same_words_are_counted() -> None:
    rows = [
        {"id": id, "experience": f"e{place}", "kind": "raw", "text": "dog", "cost": 1}
        for place, id in enumerate(("a", "b", "c"), 1)
    ]
    twice = audited_package(package(candidates=rows), [store("s", m="dog")])
    found = twice.spread({("a", "u"): F(1), ("b", "u"): F(0), ("c", "v"): F(1)})
    assert found.contradicting == 1
    assert ("s/m", "u") not in found.labels
    assert found.labels["s/m", "v"] == 1


def test_two_packages_of_one_name() -> None:
    check_distinct_names([audited("x"), audited("y")])
    with pytest.raises(MemAuditError, match="two packages are called 'x'"):
        check_distinct_names([audited("x"), audited("y"), audited("x")])


def test_changes_are_what_differs() -> None:
    own = own_values(package())
    assert own == {("a", "u"): 1, ("b", "v"): 1}
    said = {("b", "v"): F(1, 2), ("a", "u"): F(1), ("c", "u"): F(0), ("a", "v"): F(1)}
    assert list(changes(own, said).items()) == [(("a", "v"), 1), (("b", "v"), F(1, 2))]


def test_relabelled() -> None:
    before = package()
    after = relabelled(before, {("a", "u"): F(0), ("b", "v"): F(1, 2), ("c", "v"): F(1)}, "ann")
    assert own_values(after) == {("b", "v"): F(1, 2), ("c", "v"): 1}
    assert [row.label for row in after.coverage] == ["partial", "full"]
    assert {row.provenance for row in after.coverage} == {"labels:ann"}
    assert digest(after) != digest(before)
    kept = relabelled(before, {("a", "u"): F(1, 2)}, "ann").coverage
    assert kept[0] is before.coverage[1]


def test_nothing_changed_is_the_same_package() -> None:
    before = package()
    assert relabelled(before, {}, "ann") is before

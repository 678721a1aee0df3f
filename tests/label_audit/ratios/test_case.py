"""Packages with exported stores beside them, and which memories a label is about."""

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.audited_package import case_of, check_names
from memaudit.scoring.union import Cell, WrittenMemory, WrittenStore
from tests.label_audit.ratios.tiny import F, case, package


def store(name: str, **texts: str) -> WrittenStore:
    """Memories by id, each covering u in part."""
    half = {"u": Cell(F(1, 2), "judge")}
    return WrittenStore(
        name, tuple(WrittenMemory(id, text, F(1), half) for id, text in texts.items())
    )


def test_without_stores_the_package_is_what_is_scored() -> None:
    """One denominator: the package's optimum."""
    alone = case()
    assert alone.scored is alone.package
    assert (alone.name, alone.basis) == ("pets", "package")
    labels = {("a", "u"): F(1)}
    assert alone.spread(labels).labels == labels


def test_names_of_memories() -> None:
    """By store and id, or by an id that only one store has; anything else is refused."""
    both = case_of(package(), [store("s", m="old dog", n="x"), store("t", m="y")])
    assert both.basis == "common union"
    assert both.candidate("a") == "a"
    assert both.candidate("s/m") == "s/m"
    assert both.candidate("n") == "s/n"
    for name in ("m", "z"):
        with pytest.raises(MemAuditError, match=f"labels name '{name}', which is no candidate"):
            both.candidate(name)


def test_the_same_words_are_labelled_alike() -> None:
    """s/m says what candidate a says, whatever the spacing; a label of its own goes first."""
    both = case_of(package(), [store("s", m=" dog ", n="other")])
    assert both.spread({("a", "u"): F(1), ("b", "u"): F(1)}).labels == {
        ("a", "u"): 1, ("b", "u"): 1, ("s/m", "u"): 1,
    }  # fmt: skip
    own = both.spread({("a", "u"): F(1), ("s/m", "u"): F(0)})
    assert own.labels["s/m", "u"] == 0
    assert own.contradicting == 0


def test_contradicting_labels_of_the_same_words_are_counted() -> None:
    """Two candidates say `dog`, one is labelled full and one none: the judge's word stays."""
    rows = [
        {"id": id, "experience": f"e{place}", "kind": "raw", "text": "dog", "cost": 1}
        for place, id in enumerate(("a", "b", "c"), 1)
    ]
    twice = case_of(package(candidates=rows), [store("s", m="dog")])
    found = twice.spread({("a", "u"): F(1), ("b", "u"): F(0), ("c", "v"): F(1)})
    assert found.contradicting == 1
    assert ("s/m", "u") not in found.labels
    assert found.labels["s/m", "v"] == 1


def test_two_packages_of_one_name() -> None:
    """Labels could be about either."""
    check_names([case("x"), case("y")])
    with pytest.raises(MemAuditError, match="two packages are called 'x'"):
        check_names([case("x"), case("y"), case("x")])

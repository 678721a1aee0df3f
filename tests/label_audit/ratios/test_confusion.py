"""Whose confusion is measured, by hand, and where draws start."""

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.label_confusion import (
    measured_chances,
    named_confusion,
    readers,
    starting_labels,
)
from memaudit.label_audit.population import Strata
from memaudit.label_audit.readings import Reading, own_reading
from tests.label_audit.ratios.tiny import F, case, package, reading

HALF = F(1, 2)
STRATA = {"pets": Strata(package())}
ANN = reading("ann", au="1", bv="0.5", cu="0")
BOB = reading("bob", au="1", bv="0", cu="1")


def own(*readings: Reading) -> Reading:
    return own_reading([case()], readings)


def test_from_the_packages_label() -> None:
    """Of the two cells the package covers, annotators call one full twice, the other partial and
    none; the third cell, uncovered, is called none and full."""
    found = measured_chances([ANN, BOB], own(ANN, BOB), STRATA)
    assert found.shares(F(1)) == {F(0): F(1, 4), HALF: F(1, 4), F(1): HALF}
    assert found.shares(F(0)) == {F(0): HALF, F(1): HALF}


def test_between_annotators() -> None:
    """Both ways round: au full-full twice, bv partial-none and none-partial, cu none-full and
    full-none. The package's own labels do not matter."""
    found = measured_chances([ANN, BOB], own(ANN, BOB), STRATA, "annotators")
    assert found.shares(F(1)) == {F(0): F(1, 3), F(1): F(2, 3)}
    assert found.shares(HALF) == {F(0): F(1)}
    assert found.shares(F(0)) == {HALF: HALF, F(1): HALF}


def test_between_annotators_cells_count_as_often_as_they_stand_for() -> None:
    """cu stands for 9 cells: ann's none is full for bob in 9 of 10 cells."""
    weights = {"pets": {("c", "u"): F(9)}}
    sides = [Reading(one.name, one.labels, weights=weights) for one in (ANN, BOB)]
    found = measured_chances(sides, own(*sides), STRATA, "annotators")
    assert found.shares(F(0)) == {HALF: F(1, 10), F(1): F(9, 10)}


def test_the_packages_own_labels_are_no_other_annotator() -> None:
    """With only them there is no doubt; beside others they do not count. Between annotators they
    are somebody's reading like any other."""
    same, other = reading("own", au="1", bv="1"), reading("ann", au="0.5", bv="1")
    base = own(same, other)
    assert measured_chances([same], base, STRATA).shares(F(1)) == {F(1): 1}
    assert measured_chances([same, other], base, STRATA).shares(F(1)) == {HALF: HALF, F(1): HALF}
    assert [one.name for one in readers([same, other], base, "package")] == ["ann"]
    assert [one.name for one in readers([same, other], base, "annotators")] == ["own", "ann"]


def test_models_count_where_nobody_else_does() -> None:
    """A model's label says nothing about annotators, unless models are all there is."""
    model = Reading("bot", {"pets": {("a", "u"): F(0)}}, "model")
    base = own(ANN, model)
    assert [one.name for one in readers([ANN, model], base, "package")] == ["ann"]
    assert measured_chances([model], base, STRATA).shares(F(1)) == {F(0): 1}


def test_where_draws_start() -> None:
    """Both call cu full, and dispute bv: draws between annotators start with cu full, and with the
    package's label of bv; draws around the package start with its labels."""
    one, other = reading("x", bv="0.5", cu="1"), reading("y", bv="0", cu="1")
    base = own(one, other)
    assert starting_labels([one, other], base, "package") == base.labels
    assert starting_labels([one, other], base, "annotators") == {
        "pets": {("b", "v"): 1, ("c", "u"): 1}
    }


def test_nothing_to_measure() -> None:
    """One clear line each."""
    with pytest.raises(MemAuditError, match="needs label sets of two annotators"):
        measured_chances([ANN], own(ANN), STRATA, "annotators")
    apart = [reading("x", au="1"), reading("y", bv="1")]
    with pytest.raises(MemAuditError, match="share no cell"):
        measured_chances(apart, own(*apart), STRATA, "annotators")
    with pytest.raises(MemAuditError, match="unknown confusion 'z'; choose one of: package, ann"):
        named_confusion("z")
    assert named_confusion("annotators") == "annotators"

"""Label sets: passes kept in packages, annotators of a frame, and what all agree on."""

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.audited_package import Case, case_of
from memaudit.label_audit.cells import Frame, KeyedCell
from memaudit.label_audit.readings import Reading, annotated, check_readings, own_reading, passed
from memaudit.natural.label_passes import LabelPass, label_passes, packed
from memaudit.natural.named_packages import natural_set
from tests.label_audit.ratios.tiny import F, case, frame, package, reading, said


def with_passes(kind: str, judged: int) -> Case:
    """The tiny package with passes x (its own) and y, over a frame."""
    x = LabelPass("x", "", {("a", "u"): (F(1), ""), ("b", "v"): (F(1), "")})
    y = LabelPass("y", "", {("a", "u"): (F(1, 2), ""), ("c", "v"): (F(1), "")})
    return case_of(
        package(
            attributes={"label_passes": packed(kind, judged, [x, y])},
            candidates=[
                {"id": id, "experience": f"e{n}", "kind": "raw", "text": "w", "cost": 1,
                 "generator": "labels:memories"}
                for n, id in enumerate(("a", "b", "c"), 1)
            ],
        )
    )  # fmt: skip


def test_a_pass_over_all_cells() -> None:
    """All 3 x 2 cells were judged; what a pass does not list is not covered."""
    kept = with_passes("conversation", 6)
    found = passed("y", [kept])
    assert (found.name, found.judged) == ("pass:y", 6)
    assert found.labels["pets"] == {
        ("a", "u"): F(1, 2), ("a", "v"): 0, ("b", "u"): 0, ("b", "v"): 0, ("c", "u"): 0,
        ("c", "v"): 1,
    }  # fmt: skip
    assert passed("x", [kept]).labels["pets"]["b", "v"] == 1


@pytest.mark.parametrize(("kind", "judged"), [("listed", 3), ("conversation", 7)])
def test_a_pass_over_listed_cells(kind: str, judged: int) -> None:
    """Only cells that some pass lists; the same where the frame cannot be made out again."""
    kept = with_passes(kind, judged)
    assert passed("x", [kept]).labels["pets"] == {
        ("a", "u"): 1, ("b", "v"): 1, ("c", "v"): 0,
    }  # fmt: skip


def test_the_shipped_set_judged_whole_conversations() -> None:
    """Its frame is found again in every package, and its first pass changes nothing."""
    cases = [case_of(one) for one in natural_set()]
    kept = [passes for one in natural_set() if (passes := label_passes(one))]
    found = passed(kept[0].passes[0].name, cases)
    assert found.judged == sum(one.judged for one in kept) == 1586
    assert found.labels == own_reading(cases, [found]).labels


def test_unknown_pass() -> None:
    """One line that lists the passes there are."""
    with pytest.raises(MemAuditError, match="has no label pass 'z'"):
        passed("z", [case()])


def test_annotator() -> None:
    """Labels by cell; what could not be told, was left blank or is of other packages is kept
    apart. Weights other than 1 are the key's."""
    cells = frame(
        ("pets", "a", "u"), ("pets", "b", "v"), ("pets", "c", "v"), ("zoo", "a", "u"),
        ("pets", "c", "u"),
    )  # fmt: skip
    key = {"c2": KeyedCell(F(0), "", F(5)), "c0": KeyedCell(F(1), "", F(1))}
    labels = said("ann", "partial", "cannot_tell", "full", "none")
    found = annotated(labels, Frame(cells.cells, key), [case()])
    assert found == Reading(
        "ann", {"pets": {("a", "u"): F(1, 2), ("c", "v"): F(1)}},
        undecided={"pets": frozenset({("b", "v")})}, blank={"pets": frozenset({("c", "u")})},
        elsewhere=1, weights={"pets": {("c", "v"): F(5)}},
    )  # fmt: skip
    assert (found.judged, found.in_doubt) == (2, 1)
    assert len(found.asked("pets")) == 4
    assert (found.weight("pets", ("c", "v")), found.weight("pets", ("a", "u"))) == (5, 1)
    assert annotated(labels, cells, [case()], "model").role == "model"


def test_labels_of_other_packages() -> None:
    """A cell the package cannot have, or no cell at all: one line."""
    with pytest.raises(MemAuditError, match="labels name 'z', which is no candidate"):
        annotated(said("ann", "full"), frame(("pets", "z", "u")), [case()])
    with pytest.raises(MemAuditError, match="the unit 'z', which 'pets' does not have"):
        annotated(said("ann", "full"), frame(("pets", "a", "z")), [case()])
    with pytest.raises(MemAuditError, match=r"labelled no cell of these packages.*'zoo'"):
        annotated(said("ann", "full"), frame(("zoo", "a", "u")), [case()])


def test_own_reading_holds_every_judged_cell() -> None:
    """With the package's label, 0 where it has no row; and every cell that somebody was asked about
    in vain."""
    blank = Reading("eve", {}, blank={"pets": frozenset({("b", "v")})})
    found = own_reading([case()], [reading("ann", au="0.5"), reading("bob", cv="1"), blank])
    assert found.labels == {"pets": {("a", "u"): 1, ("b", "v"): 1, ("c", "v"): 0}}


def test_names_of_label_sets() -> None:
    """Each its own, and none that means something else."""
    with pytest.raises(MemAuditError, match="two label sets are called 'ann'"):
        check_readings([reading("ann"), reading("ann")])
    with pytest.raises(MemAuditError, match="an annotator is called 'package'"):
        check_readings([reading("package")])
    with pytest.raises(MemAuditError, match="no label sets"):
        check_readings([])

"""Label sets: passes kept in packages, annotators of a frame, and what all agree on."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.building.label_passes import LabelPass, label_passes, label_passes_json
from memaudit.building.named_packages import short_set
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import VALUES
from memaudit.kernel.package.package import Package
from memaudit.lab.labels.coded_labels import LABEL_SCALE, ORDER, code_labels
from memaudit.lab.labels.frame import LabelSet
from memaudit.lab.labels.label_sources import (
    LabelSource,
    check_sources,
    consensus_source,
    source_of_annotator,
    source_of_pass,
)
from tests.lab.labels.small_frames import LETTERS
from tests.lab.labels.tiny_package import F, frame_of_cells, label_set, package, source


def with_passes(kind: str, judged: int) -> Package:
    x = LabelPass("x", "", {("a", "u"): (F(1), ""), ("b", "v"): (F(1), "")})
    y = LabelPass("y", "", {("a", "u"): (F(1, 2), ""), ("c", "v"): (F(1), "")})
    return package(
        attributes={"label_passes": label_passes_json(kind, judged, [x, y])},
        candidates=[
            {
                "id": id,
                "experience": f"e{n}",
                "kind": "raw",
                "text": "w",
                "cost": 1,
                "generator": "labels:memories",
            }
            for n, id in enumerate(("a", "b", "c"), 1)
        ],
    )


def test_a_pass_over_all_cells() -> None:
    """All 3 x 2 cells were judged; what a pass does not list is not covered."""
    kept = with_passes("conversation", 6)
    found = source_of_pass("y", [kept])
    assert (found.name, found.labelled_cells) == ("pass:y", 6)
    assert found.labels["pets"] == {
        ("a", "u"): F(1, 2),
        ("a", "v"): 0,
        ("b", "u"): 0,
        ("b", "v"): 0,
        ("c", "u"): 0,
        ("c", "v"): 1,
    }
    assert source_of_pass("x", [kept]).labels["pets"]["b", "v"] == 1


@pytest.mark.parametrize(("kind", "judged"), [("listed", 3), ("conversation", 7)])
def test_a_pass_over_listed_cells(kind: str, judged: int) -> None:
    kept = with_passes(kind, judged)
    assert source_of_pass("x", [kept]).labels["pets"] == {
        ("a", "u"): 1,
        ("b", "v"): 1,
        ("c", "v"): 0,
    }


def test_the_shipped_set_judged_whole_conversations() -> None:
    kept = [passes for one in short_set() if (passes := label_passes(one))]
    found = source_of_pass(kept[0].passes[0].name, short_set())
    assert found.labelled_cells == sum(one.judged for one in kept) == 1586 + 2375


def test_unknown_pass() -> None:
    with pytest.raises(MemAuditError, match="has no label pass 'z'"):
        source_of_pass("z", [package()])


def test_annotator() -> None:
    """Labels by cell; what could not be told, was left blank or is of other packages is kept
    apart."""
    cells = frame_of_cells(
        ("pets", "a", "u"),
        ("pets", "b", "v"),
        ("pets", "c", "v"),
        ("zoo", "a", "u"),
        ("pets", "c", "u"),
    )
    labels = label_set("ann", "partial", "cannot_tell", "full", "none")
    found = source_of_annotator(labels, cells, [package()])
    assert found == LabelSource(
        "ann",
        {"pets": {("a", "u"): F(1, 2), ("c", "v"): F(1)}},
        undecided={"pets": frozenset({("b", "v")})},
        blank={"pets": frozenset({("c", "u")})},
        elsewhere=1,
    )
    assert (found.labelled_cells, found.undecided_cells) == (2, 1)
    assert len(found.asked("pets")) == 4
    assert (
        source_of_annotator(replace(labels, annotator="model:x"), cells, [package()]).role
        == "model"
    )


def test_labels_of_other_packages() -> None:
    with pytest.raises(MemAuditError, match="the candidate 'z', which 'pets' does not have"):
        source_of_annotator(
            label_set("ann", "full"), frame_of_cells(("pets", "z", "u")), [package()]
        )
    with pytest.raises(MemAuditError, match="the unit 'z', which 'pets' does not have"):
        source_of_annotator(
            label_set("ann", "full"), frame_of_cells(("pets", "a", "z")), [package()]
        )
    with pytest.raises(MemAuditError, match=r"labelled no cell of these packages.*'zoo'"):
        source_of_annotator(
            label_set("ann", "full"), frame_of_cells(("zoo", "a", "u")), [package()]
        )


def test_names_of_label_sets() -> None:
    with pytest.raises(MemAuditError, match="two label sets are called 'ann'"):
        check_sources([source("ann"), source("ann")])
    with pytest.raises(MemAuditError, match="an annotator has the reserved name 'package'"):
        check_sources([source("package")])
    with pytest.raises(MemAuditError, match="no label sets"):
        check_sources([])


CELLS = [(candidate, unit) for candidate in "abc" for unit in "uv"]
FRAME = frame_of_cells(*(("pets", *at) for at in CELLS))


def test_by_hand() -> None:
    ann = source("ann", au="0.5", bv="1", cu="1", cv="1")
    bob = source("bob", au="0.5", bv="0", cv="1")
    eve = LabelSource("eve", {"pets": {}}, undecided={"pets": frozenset({("c", "v")})})
    found = consensus_source([ann, bob, eve])
    assert found == LabelSource(
        "consensus",
        {"pets": {("a", "u"): F(1, 2)}},
        "consensus",
        unsettled={"missing": 1, "cannot_tell": 1, "disagreed": 1},
    )


def test_models_have_no_say() -> None:
    ann, bob = source("ann", au="1"), source("bob", au="1")
    model = LabelSource("bot", {"pets": {("a", "u"): F(0)}}, "model")
    assert consensus_source([ann, model]) is None
    assert consensus_source([ann, bob, model]) == consensus_source([ann, bob])


letters = st.text("npf?.", min_size=len(CELLS), max_size=len(CELLS))


@given(st.lists(letters, min_size=2, max_size=4))
def test_the_same_as_in_agreement(said: list[str]) -> None:
    sets = [
        LabelSet(f"x{n}", {f"c{at}": LETTERS[one] for at, one in enumerate(row) if one != "."})
        for n, row in enumerate(said)
        if set(row) & set("npf")
    ]
    if len(sets) < 2:
        return
    held = code_labels(FRAME, sets)
    codes = held.scaled[LABEL_SCALE.name]["consensus"].tolist()
    expected = {at: VALUES[ORDER[code]] for at, code in zip(CELLS, codes, strict=True) if code >= 0}
    found = consensus_source([source_of_annotator(one, FRAME, [package()]) for one in sets])
    assert found is not None
    assert found.labels == {"pets": expected}
    counts = held.consensus_counts(LABEL_SCALE.name)
    assert {"agreed": found.labelled_cells, **found.unsettled} == counts

"""Label passes inside packages, as label sets of a frame."""

from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.label_audit.frame_drawing import Design, draw
from memaudit.label_audit.frame_files import read_frame, read_label_sets, write_frame
from memaudit.label_audit.package_passes import judged_cells, pass_label_sets
from memaudit.natural.label_passes import FIELD, LabelPass, packed
from memaudit.natural.named_packages import natural_set
from tests.label_audit.frames.making import grid

EVERYTHING = Design(zero_rate=Fraction(1), judged_only=True)


def passed(frame: str, judged: int) -> Package:
    """Two brought memories in sessions s1 and s2, one raw turn; a unit in each session."""
    passes = [
        LabelPass("a", "0", {("m1", "u1"): (Fraction(1), "says so")}),
        LabelPass("b", "1", {("m1", "u1"): (Fraction(7, 10), ""), ("m2", "u1"): (Fraction(1), "")}),
    ]
    brought = {"kind": "fact", "cost": 1, "generator": "labels:memories"}
    return Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": "e1", "session": "s1"}, {"id": "e2", "session": "s2"}],
            "candidates": [
                {"id": "r1", "experience": "e1", "kind": "raw", "cost": 1, "generator": "rule:raw"},
                {"id": "m1", "experience": "e1", **brought},
                {"id": "m2", "experience": "e2", **brought},
            ],
            "units": [
                {"id": f"u{n}", "kind": "fact", "sources": [{"id": f"e{n}", "session": f"s{n}"}]}
                for n in (1, 2)
            ],
            "coverage": [
                {"candidate": "m1", "unit": "u1", "value": 1, "provenance": "pass:a"},
                {"candidate": "r1", "unit": "u1", "value": 1, "provenance": "exact:inclusion"},
            ],
            "attributes": {FIELD: packed(frame, judged, passes)},
        }
    )


def test_judged() -> None:
    """By session, by conversation, or what any pass lists; the raw turn was never judged.

    What pass b lists across sessions, m2 with u1, it judged too.
    """
    assert judged_cells(passed("session", 2)) == {("m1", "u1"), ("m2", "u2"), ("m2", "u1")}
    assert judged_cells(passed("conversation", 4)) == {
        (m, u) for m in ("m1", "m2") for u in ("u1", "u2")
    }
    assert judged_cells(passed("listed", 2)) == {("m1", "u1"), ("m2", "u1")}
    with pytest.raises(MemAuditError, match="which 3 cells its passes judged cannot be told"):
        judged_cells(passed("session", 3))
    with pytest.raises(MemAuditError, match="grid: keeps no label passes"):
        draw([grid("tenth")], EVERYTHING)


def test_a_unit_said_in_two_sessions() -> None:
    """It was looked at where its first source is, as the build counted; not in both sessions."""
    package = passed("session", 2)
    first, second = package.units
    again = second.model_copy(update={"sources": (*second.sources, *first.sources)})
    package = package.replace(units=(first, again))
    assert judged_cells(package) == {("m1", "u1"), ("m2", "u2"), ("m2", "u1")}


def test_label_sets(tmp_path: Path) -> None:
    """What a pass does not list it judged none; 7/10 is partial; reasons are notes."""
    package = passed("conversation", 4)
    drawing = draw([package], EVERYTHING)
    assert drawing.left_out == {"judged by no pass": 2}
    sets = pass_label_sets(drawing.frame, [package])
    place = {(cell.candidate, cell.unit): cell.id for cell in drawing.frame.cells}
    said = {one.annotator: {at: one.labels[id] for at, id in place.items()} for one in sets}
    assert said == {
        "pass:a": {("m1", "u1"): "full", ("m1", "u2"): "none", ("m2", "u1"): "none",
                   ("m2", "u2"): "none"},
        "pass:b": {("m1", "u1"): "partial", ("m1", "u2"): "none", ("m2", "u1"): "full",
                   ("m2", "u2"): "none"},
    }  # fmt: skip
    assert sets[0].notes == {place["m1", "u1"]: "says so"}
    write_frame(drawing.frame, tmp_path / "f", drawing, sets)
    assert read_label_sets(tmp_path / "f" / "passes.csv", read_frame(tmp_path / "f")) == sets


def test_the_first_pass_is_the_key() -> None:
    """On the shipped set, whose coverage of brought memories is its first pass."""
    packages = natural_set()
    frame = draw(packages, EVERYTHING).frame
    first = pass_label_sets(frame, packages)[0]
    assert set(first.labels) == set(frame.key)
    words = {Fraction(0): "none", Fraction(1, 2): "partial", Fraction(1): "full"}
    assert {id: words[one.value] for id, one in frame.key.items()} == first.labels

"""Statements with parts are drawn, labelled and compared whole, and counted part by part."""

from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.package.unit_parts import core_problems, part_units
from memaudit.lab.labels.agreement import audit_agreement
from memaudit.lab.labels.frame import LabelSet
from memaudit.lab.labels.frame_drawing import Design, draw, frame_of
from memaudit.lab.labels.frame_files import read_frame, read_label_sets, write_frame, write_labels
from memaudit.lab.labels.label_sources import source_of_annotator
from memaudit.lab.labels.model_labels import labels_by_model
from memaudit.lab.labels.optimum_audit import FrameLabels, optimum_frame
from memaudit.lab.labels.relabelling import relabelled
from tests.building.passes.building import live
from tests.building.passes.fake_model import plays
from tests.lab.labels.test_model_labels import session
from tests.models.server import serving

F = Fraction
MOVED = EvidenceUnit(id="u7", kind="fact", text="Ana moved to Lisbon in May", weight=F(4))
BOUGHT = EvidenceUnit(id="u8", kind="fact", text="Bo bought a boat at sea", weight=F(1))
PLAIN = EvidenceUnit(id="u9", kind="fact", text="Cy sings.", weight=F(1))
UNITS = (
    *part_units(MOVED, (("what", "to Lisbon"), ("who", "Ana"), ("when", "in May"))),
    *part_units(BOUGHT, (("what", "a boat"), ("where", "at sea"))),
    PLAIN,
)
CANDIDATES = ("Ana moved to Lisbon", "Bo bought a boat at sea", "No 1", "No 2", "No 3")
PACKAGE = Package.model_validate(
    {
        "name": "p",
        "experiences": [{"id": f"e{n}"} for n in range(5)],
        "units": UNITS,
        "candidates": [
            {"id": f"m{n}", "experience": f"e{n}", "kind": "fact", "text": text, "cost": 1}
            for n, text in enumerate(CANDIDATES)
        ],
        "coverage": [
            {"candidate": "m0", "unit": "u7#what", "value": 1, "provenance": "pass:x"},
            {"candidate": "m0", "unit": "u7#who", "value": 1, "provenance": "pass:x"},
            {"candidate": "m1", "unit": "u8#what", "value": 1, "provenance": "pass:x"},
            {"candidate": "m1", "unit": "u8#where", "value": 1, "provenance": "pass:x"},
        ],
    }
)
DRAWING = draw([PACKAGE], Design(zero_rate=F(1, 2)))
FRAME = DRAWING.frame


def cell_id(candidate: str, unit: str) -> str:
    (found,) = [c.id for c in FRAME.cells if (c.candidate, c.unit) == (candidate, unit)]
    return found


def test_a_frame_draws_statements() -> None:
    """15 cells of whole units, 2 covered. Of 4 uncovered ones of each statement half is drawn, and
    of 5 of the plain unit 3."""
    assert {s.name: (s.covered, s.uncovered, s.drawn) for s in DRAWING.strata} == {
        "fact / fact / session unknown": (0, 5, 3),
        "fact / fact / session unknown / 2 parts": (1, 4, 2),
        "fact / fact / session unknown / 3 parts": (1, 4, 2),
    }
    assert {cell.unit for cell in FRAME.cells} == {"u7", "u8", "u9"}
    keyed = FRAME.key[cell_id("m0", "u7")]
    assert (keyed.value, keyed.kept, keyed.weight) == (F(3, 4), {"what", "who"}, 1)
    (shown,) = [cell for cell in FRAME.cells if cell.id == cell_id("m0", "u7")]
    assert (shown.unit_text, shown.parts[0]) == (MOVED.text, ("what", "to Lisbon"))


def labels() -> LabelSet:
    """Ana is lost and her date is found; the boat has lost the sea."""
    given = {cell.id: "none" for cell in FRAME.cells}
    kept = {cell.id: frozenset[str]() for cell in FRAME.cells if cell.parts}
    moved, bought, plain = cell_id("m0", "u7"), cell_id("m1", "u8"), FRAME.cells[0].id
    given |= {moved: "partial", bought: "partial"}
    kept |= {moved: frozenset({"what", "when"}), bought: frozenset({"what"})}
    assert plain in given
    return LabelSet("ann", given, {}, kept)  # type: ignore[arg-type]


def test_files_round_trip(tmp_path: Path) -> None:
    """A statement is one row, and so is its label."""
    write_frame(FRAME, tmp_path / "f", DRAWING)
    assert read_frame(tmp_path / "f") == FRAME
    assert read_frame(tmp_path / "f" / "cells.jsonl") == FRAME
    write_labels(labels(), tmp_path / "l.csv")
    assert read_label_sets(tmp_path / "l.csv", FRAME) == [labels()]


@pytest.mark.parametrize(
    ("label", "parts", "message"),
    [
        ("partial", "", "is partial, and does not say which parts: what, who, when"),
        ("", "what;x", "has the unknown part 'x'; parts: what, who, when"),
        ("", "who", "keeps parts without the core, 'what': that is none"),
        ("full", "what", "is full, and its parts say partial"),
    ],
)
def test_labels_that_do_not_fit(tmp_path: Path, label: str, parts: str, message: str) -> None:
    path, id = tmp_path / "l.csv", cell_id("m0", "u7")
    path.write_text(f"cell_id,label,parts\n{id},{label},{parts}\n")
    with pytest.raises(MemAuditError, match=rf"^l\.csv:2: the cell '{id}' ") as caught:
        read_label_sets(path, FRAME)
    assert message in str(caught.value)


def test_a_label_by_word_or_by_parts(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    moved, bought = cell_id("m0", "u7"), cell_id("m1", "u8")
    path.write_text(f"cell_id,label,parts\n{moved},,what;when\n{bought},full,\n")
    (found,) = read_label_sets(path, FRAME)
    assert found.labels == {moved: "partial", bought: "full"}
    assert found.kept == {moved: {"what", "when"}, bought: {"what", "where"}}


def test_sources_and_second_looks_are_by_part() -> None:
    source = source_of_annotator(labels(), FRAME, [PACKAGE])
    found = {at: value for at, value in source.labels["p"].items() if value}
    assert found == {("m0", "u7#what"): 1, ("m0", "u7#when"): 1, ("m1", "u8#what"): 1}
    cells = [("m0", "u7#who"), ("m1", "u8#what")]
    assert FrameLabels(FRAME, labels()).labels(PACKAGE, cells) == {cells[0]: 0, cells[1]: 1}
    asked = optimum_frame(PACKAGE, [], F(1))
    assert [(cell.candidate, cell.unit) for cell in asked.cells] == [("m0", "u7")]
    assert frame_of(PACKAGE, [("m1", "u8#where")]).cells[0].unit == "u8"


def test_a_lost_core_takes_its_parts_with_it() -> None:
    """Where single cells get other labels, as by a second look."""
    changed = relabelled(PACKAGE, {("m0", "u7#what"): F(0)}, "x")
    assert {row.unit for row in changed.coverage} == {"u8#what", "u8#where"}
    found = {("m2", "u7#who"): F(1), ("m1", "u8#where"): F(1, 2), ("m3", "u8#what"): F(1)}
    changed = relabelled(PACKAGE, found, "x")
    assert list(core_problems(changed.units, changed.coverage)) == []


def test_agreement_is_by_statement() -> None:
    """Of 9 cells ann labelled 6 of statements: 4 none as the package, u7 partial as the package,
    with other parts, and u8 partial where the package says full. Parts are not compared."""
    audit = audit_agreement(FRAME, [labels()], draws=10)
    (pair,) = audit.pairs
    assert pair.title == "ann - package"
    assert pair.scales["labels"].as_drawn.confusion[1][1:] == [1, 1]
    assert "statements with parts are compared whole: any two partial labels agree" in audit.notes


def test_a_model_is_asked_by_statement(tmp_path: Path) -> None:
    with serving(plays) as served, session(tmp_path, live(served.url)) as asked:
        found = labels_by_model(FRAME, asked, "one").labels
    bought, moved = cell_id("m1", "u8"), cell_id("m0", "u7")
    assert (found.labels[bought], found.kept[bought]) == ("full", {"what", "where"})
    assert (found.labels[moved], found.kept[moved]) == ("partial", {"what", "who"})
    assert found.kept.keys() == {cell.id for cell in FRAME.cells if cell.parts}

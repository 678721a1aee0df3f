"""Judges that read a file: what their labels and calls leave out is not zero."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit
from memaudit.scoring.judges import MemoryText, NotJudged
from memaudit.scoring.label_judges import LabelJudge, PublishedJudge

UNITS = [EvidenceUnit(id="move", kind="fact"), EvidenceUnit(id="fee", kind="fact")]
LUNCH = [MemoryText("lunch::a", "x", example="lunch"), MemoryText("lunch::b", "y", example="lunch")]


def test_labels_by_id_and_by_text(tmp_path: Path) -> None:
    """By the store's own ids, or through a file that says which texts other ids stand for. Line 3
    of the labelled export is not line 3 of another one: its number alone labels nothing."""
    labels = tmp_path / "ann.csv"
    labels.write_text('memory_id,unit_id,coverage,why\nm1,move,1,"says so"\nm1,fee,0.5,half\n')
    cells = LabelJudge(labels).judge([MemoryText("m1", "text")], UNITS).cells
    assert {unit: cell.value for unit, cell in cells["m1"].items()} == {
        "move": 1, "fee": Fraction(1, 2),
    }  # fmt: skip
    assert cells["m1"]["move"].provenance == "pass:ann"
    named = tmp_path / "memories.jsonl"
    named.write_text('{"memory_id": "m1", "text": "a  text", "sources": [{"line": 3}]}\n')
    pair = [
        MemoryText("line-3", "something else"),
        MemoryText("x", "a text"),
        MemoryText("y", "a text "),
    ]
    through = LabelJudge(labels, named).judge(pair, UNITS).cells
    assert {id: set(row) for id, row in through.items()} == {
        "line-3": set(), "x": {"move", "fee"}, "y": {"move", "fee"},
    }  # fmt: skip
    with pytest.raises(MemAuditError, match="no label is about a memory of this store"):
        LabelJudge(labels, named).judge([MemoryText("line-3", "something else")], UNITS)


def test_labels_that_do_not_fit(tmp_path: Path) -> None:
    """Unknown units and labels about nothing here are errors, not zeros."""
    labels = tmp_path / "a.jsonl"
    labels.write_text('{"memory_id": "m1", "unit_id": "nope", "coverage": 1}\n')
    with pytest.raises(MemAuditError, match="names the unknown unit 'nope'"):
        LabelJudge(labels).judge([MemoryText("m1", "t")], UNITS)
    labels.write_text('{"memory_id": "m1", "unit_id": "fee", "coverage": 1}\n')
    with pytest.raises(MemAuditError, match="no label is about a memory of this store"):
        LabelJudge(labels).judge([MemoryText("m2", "t")], UNITS)
    assert LabelJudge(labels).judge([], UNITS).cells == {}
    twice = '{"memory_id": "m1", "unit_id": "fee", "coverage": 0}\n'
    labels.write_text(labels.read_text() + twice)
    with pytest.raises(MemAuditError, match="a second time, differently"):
        LabelJudge(labels).judge([MemoryText("m1", "t")], UNITS)


def test_labels_that_are_left_out_are_counted(tmp_path: Path) -> None:
    """About memories of another store, of ids nobody names, of other conversations."""
    labels = tmp_path / "a.jsonl"
    rows = [
        {"memory_id": "m1", "unit_id": "fee", "coverage": 1},
        {"memory_id": "m9", "unit_id": "fee", "coverage": 1},
        {"memory_id": "m1", "unit_id": "elsewhere", "coverage": 1, "conversation": "q"},
        {"memory_id": "m1", "unit_id": "move", "coverage": 1, "conversation": "q"},
        {"memory_id": "m1", "unit_id": "move", "coverage": 0.5, "conversation": "p"},
    ]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = LabelJudge(labels).judge([MemoryText("m1", "t", example="p")], UNITS)
    assert {unit: cell.value for unit, cell in found.cells["m1"].items()} == {
        "fee": 1, "move": Fraction(1, 2),
    }  # fmt: skip
    assert found.left_out == {
        "labels about memories that are not in this store": 1, "labels of other conversations": 2,
    }  # fmt: skip
    named = tmp_path / "memories.jsonl"
    named.write_text('{"memory_id": "m1", "text": "t"}\n')
    found = LabelJudge(labels, named).judge([MemoryText("x", "t", example="p")], UNITS)
    assert found.left_out["labels whose memory the file of memories does not name"] == 1


def calls(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "calls.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def edges(example: str, *said: tuple[str, str, float]) -> dict[str, Any]:
    rows = [{"memory_id": memory, "unit_id": unit, "coverage": value}
            for memory, unit, value in said]  # fmt: skip
    return {"instance_id": example, "coverage_edges": rows}


def test_cells_and_what_fits_nothing(tmp_path: Path) -> None:
    """Edges to other memories and units are counted, and so is a call that failed."""
    path = calls(
        tmp_path,
        edges(
            "lunch", ("a", "move", 1), ("gone", "move", 1), ("b", "other", 0.5), ("b", "gone", 1)
        ),
        edges("dinner", ("a", "move", 1)),
        {"instance_id": "tea", "error": "timeout"},
    )
    found = PublishedJudge(path).judge(LUNCH, UNITS)
    values = {id: {unit: cell.value for unit, cell in row.items()}
              for id, row in found.cells.items()}  # fmt: skip
    assert values == {"lunch::a": {"move": 1}, "lunch::b": {}}
    assert found.left_out == {
        "calls that failed or could not be read": 1,
        "edges to memories that are not in this store": 1,
        "edges to units that are not in this package": 2,
    }


def test_ids_without_their_example(tmp_path: Path) -> None:
    """A store that is not of the published layout may use the bare ids of its calls."""
    path = calls(tmp_path, edges("lunch", ("a", "fee", 0.5)))
    found = PublishedJudge(path).judge([MemoryText("a", "x", example="lunch")], UNITS)
    assert found.cells["a"]["fee"].value == Fraction(1, 2)


def test_an_example_without_a_call_is_no_zero(tmp_path: Path) -> None:
    """Calls about others, a failed call, or edges that all miss: an error, one line."""
    path = calls(tmp_path, edges("dinner", ("a", "move", 1)))
    with pytest.raises(NotJudged, match="has no call about 'lunch'; it is about 'dinner'"):
        PublishedJudge(path).judge(LUNCH, UNITS)
    path = calls(tmp_path, edges("dinner"), {"instance_id": "lunch", "error": "rate limit"})
    with pytest.raises(NotJudged, match=r"1 call failed or could not be read.*rate limit"):
        PublishedJudge(path).judge(LUNCH, UNITS)
    path = calls(tmp_path, edges("lunch", ("z", "move", 1)))
    with pytest.raises(NotJudged, match="no edge of 'lunch' is about a memory of this store"):
        PublishedJudge(path).judge(LUNCH, UNITS)


def test_no_edges_is_judged_zero(tmp_path: Path) -> None:
    """The call was made and found nothing; a store that wrote nothing needs no call."""
    path = calls(tmp_path, edges("lunch"))
    assert PublishedJudge(path).judge(LUNCH, UNITS).cells == {"lunch::a": {}, "lunch::b": {}}
    assert PublishedJudge(path).judge([], UNITS).cells == {}

"""Judges of exported memories, on texts small enough to judge by eye."""

from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.audits.judges.labels import Labels
from memaudit.audits.judges.lexical import Lexical
from memaudit.audits.judges.pointer import Pointer
from memaudit.audits.judges.protocol import Judged
from memaudit.audits.judges.registry import named_judge
from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit, Source

UNITS = [
    EvidenceUnit(
        id="move", kind="fact", text="Ann moved to Hill Road in May.", sources=(Source(id="t1"),)
    ),
    EvidenceUnit(
        id="fee", kind="fact", text="The gym costs 45 dollars a month.",
        sources=(Source(id="t2"), Source(id="t3")),
    ),
]  # fmt: skip


def test_lexical() -> None:
    """All terms and numbers is full; a wrong number is not; nothing shared is nothing."""
    memories = [
        Judged("a", "In May Ann moved to Hill Road"),
        Judged("b", "Gym membership: 40 dollars a month"),
        Judged("c", "Ann likes soup"),
    ]
    cells = Lexical().cells(memories, UNITS)
    assert cells["a"]["move"].value == 1
    assert cells["b"]["fee"].value < 1
    assert cells["c"] == {}
    assert Lexical.is_estimate
    assert all(cell.provenance == "heuristic:lexical-v2" for cell in cells["a"].values())


def test_lexical_is_blind_to_who_wrote_it() -> None:
    """The same words get the same cells under any id and any source."""
    one = Lexical().cells([Judged("a", "Ann moved to Hill Road")], UNITS)["a"]
    other = Lexical().cells([Judged("mem0-7", "Ann moved to Hill Road", ("t9",))], UNITS)["mem0-7"]
    assert one == other


def test_pointer() -> None:
    """All source turns must be named; a store that names none, or others, is an error."""
    with pytest.raises(MemAuditError, match="names its sources"):
        Pointer().cells([Judged("a", "x")], UNITS)
    with pytest.raises(MemAuditError, match="use the ids of its experiences"):
        Pointer().cells([Judged("a", "x", ("D9:9",))], UNITS)
    memories = [
        Judged("a", "x", ("t1",)),
        Judged("b", "x", ("t2",)),
        Judged("c", "x", ("t3", "t2")),
    ]
    cells = Pointer().cells(memories, UNITS)
    assert {id: set(row) for id, row in cells.items()} == {"a": {"move"}, "b": set(), "c": {"fee"}}


def test_labels_by_id_and_by_line(tmp_path: Path) -> None:
    """By the store's own ids, or through a file that says what other ids stand for."""
    labels = tmp_path / "ann.csv"
    labels.write_text('memory_id,unit_id,coverage,why\nm1,move,1,"says so"\nm1,fee,0.5,half\n')
    cells = Labels(labels).cells([Judged("m1", "text")], UNITS)
    assert {unit: cell.value for unit, cell in cells["m1"].items()} == {
        "move": 1, "fee": Fraction(1, 2),
    }  # fmt: skip
    assert cells["m1"]["move"].provenance == "pass:ann"
    named = tmp_path / "memories.jsonl"
    named.write_text('{"memory_id": "m1", "text": "a  text", "sources": [{"line": 3}]}\n')
    through = Labels(labels, named).cells([Judged("line-3", "?"), Judged("x", "a text")], UNITS)
    assert set(through["line-3"]) == set(through["x"]) == {"move", "fee"}


def test_labels_that_do_not_fit(tmp_path: Path) -> None:
    """Unknown units and labels about nothing here are errors, not zeros."""
    labels = tmp_path / "a.jsonl"
    labels.write_text('{"memory_id": "m1", "unit_id": "nope", "coverage": 1}\n')
    with pytest.raises(MemAuditError, match="names the unknown unit 'nope'"):
        Labels(labels).cells([Judged("m1", "t")], UNITS)
    labels.write_text('{"memory_id": "m1", "unit_id": "fee", "coverage": 1}\n')
    with pytest.raises(MemAuditError, match="no label is about a memory of this store"):
        Labels(labels).cells([Judged("m2", "t")], UNITS)
    assert Labels(labels).cells([], UNITS) == {}
    twice = '{"memory_id": "m1", "unit_id": "fee", "coverage": 0}\n'
    labels.write_text(labels.read_text() + twice)
    with pytest.raises(MemAuditError, match="a second time, otherwise"):
        Labels(labels).cells([Judged("m1", "t")], UNITS)


def test_named_judges(tmp_path: Path) -> None:
    """By name; anything else is one line."""
    assert named_judge("pointer").name == "pointer"
    with pytest.raises(MemAuditError, match="unknown judge 'oracle'"):
        named_judge("oracle")
    with pytest.raises(MemAuditError, match="labels:FILE only"):
        named_judge("lexical", tmp_path)

"""Judges of exported memories, on texts small enough to judge by eye."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.adapters.store import ExportedStore, Memory, Origin
from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit, Source
from memaudit.scoring.judges.labels import Labels
from memaudit.scoring.judges.lexical import Lexical
from memaudit.scoring.judges.pointer import Pointer
from memaudit.scoring.judges.protocol import Judged
from memaudit.scoring.judges.registry import (
    named_judge,
    named_judges,
    refuse_equal_judges,
    refuse_shared_ids,
)

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
    cells = Lexical().judge(memories, UNITS).cells
    assert cells["a"]["move"].value == 1
    assert cells["b"]["fee"].value < 1
    assert cells["c"] == {}
    assert Lexical.is_estimate
    assert all(cell.provenance == "heuristic:lexical-v2" for cell in cells["a"].values())


def test_lexical_is_blind_to_who_wrote_it() -> None:
    """The same words get the same cells under any id and any source."""
    one = Lexical().judge([Judged("a", "Ann moved to Hill Road")], UNITS).cells["a"]
    other = Lexical().judge([Judged("mem0-7", "Ann moved to Hill Road", ("t9",))], UNITS).cells
    assert one == other["mem0-7"]


def test_pointer() -> None:
    """All source turns must be named; a store that names none, or others, is an error."""
    with pytest.raises(MemAuditError, match="names its sources"):
        Pointer().judge([Judged("a", "x")], UNITS)
    with pytest.raises(MemAuditError, match="use the ids of its experiences"):
        Pointer().judge([Judged("a", "x", ("D9:9",))], UNITS)
    memories = [
        Judged("a", "x", ("t1",)),
        Judged("b", "x", ("t2",)),
        Judged("c", "x", ("t3", "t2")),
    ]
    cells = Pointer().judge(memories, UNITS).cells
    assert {id: set(row) for id, row in cells.items()} == {"a": {"move"}, "b": set(), "c": {"fee"}}


def test_labels_by_id_and_by_text(tmp_path: Path) -> None:
    """By the store's own ids, or through a file that says which texts other ids stand for. Line 3
    of the labelled export is not line 3 of another one: its number alone labels nothing."""
    labels = tmp_path / "ann.csv"
    labels.write_text('memory_id,unit_id,coverage,why\nm1,move,1,"says so"\nm1,fee,0.5,half\n')
    cells = Labels(labels).judge([Judged("m1", "text")], UNITS).cells
    assert {unit: cell.value for unit, cell in cells["m1"].items()} == {
        "move": 1, "fee": Fraction(1, 2),
    }  # fmt: skip
    assert cells["m1"]["move"].provenance == "pass:ann"
    named = tmp_path / "memories.jsonl"
    named.write_text('{"memory_id": "m1", "text": "a  text", "sources": [{"line": 3}]}\n')
    pair = [Judged("line-3", "something else"), Judged("x", "a text"), Judged("y", "a text ")]
    through = Labels(labels, named).judge(pair, UNITS).cells
    assert {id: set(row) for id, row in through.items()} == {
        "line-3": set(), "x": {"move", "fee"}, "y": {"move", "fee"},
    }  # fmt: skip
    with pytest.raises(MemAuditError, match="no label is about a memory of this store"):
        Labels(labels, named).judge([Judged("line-3", "something else")], UNITS)


def test_labels_that_do_not_fit(tmp_path: Path) -> None:
    """Unknown units and labels about nothing here are errors, not zeros."""
    labels = tmp_path / "a.jsonl"
    labels.write_text('{"memory_id": "m1", "unit_id": "nope", "coverage": 1}\n')
    with pytest.raises(MemAuditError, match="names the unknown unit 'nope'"):
        Labels(labels).judge([Judged("m1", "t")], UNITS)
    labels.write_text('{"memory_id": "m1", "unit_id": "fee", "coverage": 1}\n')
    with pytest.raises(MemAuditError, match="no label is about a memory of this store"):
        Labels(labels).judge([Judged("m2", "t")], UNITS)
    assert Labels(labels).judge([], UNITS).cells == {}
    twice = '{"memory_id": "m1", "unit_id": "fee", "coverage": 0}\n'
    labels.write_text(labels.read_text() + twice)
    with pytest.raises(MemAuditError, match="a second time, otherwise"):
        Labels(labels).judge([Judged("m1", "t")], UNITS)


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
    found = Labels(labels).judge([Judged("m1", "t", example="p")], UNITS)
    assert {unit: cell.value for unit, cell in found.cells["m1"].items()} == {
        "fee": 1, "move": Fraction(1, 2),
    }  # fmt: skip
    assert found.left_out == {
        "labels about memories that are not in this store": 1, "labels of other conversations": 2,
    }  # fmt: skip
    named = tmp_path / "memories.jsonl"
    named.write_text('{"memory_id": "m1", "text": "t"}\n')
    found = Labels(labels, named).judge([Judged("x", "t", example="p")], UNITS)
    assert found.left_out["labels whose memory the file of memories does not name"] == 1


def test_memories_without_a_source_are_counted() -> None:
    """The pointer judge knows nothing of them."""
    found = Pointer().judge([Judged("a", "x", ("t1",)), Judged("b", "y")], UNITS)
    assert found.left_out == {"memories that name no source": 1}


def test_stores_that_share_an_id(tmp_path: Path) -> None:
    """A judge that goes by ids cannot tell them apart; one that goes by texts can."""
    one, other = (_store(name, "m1") for name in ("one", "other"))
    for name in ("calls:f.jsonl", "labels:f.jsonl"):
        with pytest.raises(MemAuditError, match="two stores have a memory 'm1'"):
            refuse_shared_ids([name], None, [one, other])
        refuse_shared_ids([name], None, [one, _store("third", "m2")])
    refuse_shared_ids(["labels:f.jsonl"], tmp_path, [one, other])
    refuse_shared_ids(["lexical"], None, [one, other])


def _store(name: str, id: str) -> ExportedStore:
    origin = Origin(system="x", format="plain")
    return ExportedStore(name=name, origin=origin, memories=(Memory(id=id, text="t"),))


def test_judges_side_by_side(tmp_path: Path) -> None:
    """The file of labelled memories goes to labels only; equal names are refused."""
    labels = tmp_path / "a.csv"
    labels.write_text("memory_id,unit_id,coverage\nm1,fee,1\n")
    memories = tmp_path / "m.jsonl"
    memories.write_text('{"memory_id": "m1", "text": "t"}\n')
    judges = named_judges(["lexical", f"labels:{labels}"], memories)
    assert [judge.name for judge in judges] == ["lexical", "labels a"]
    refuse_equal_judges(judges)
    with pytest.raises(MemAuditError, match="labels:FILE only"):
        named_judges(["lexical", "pointer"], memories)
    with pytest.raises(MemAuditError, match="two judges are called 'lexical'"):
        refuse_equal_judges([*judges, judges[0]])


def test_named_judges(tmp_path: Path) -> None:
    """By name; anything else is one line."""
    assert named_judge("pointer").name == "pointer"
    with pytest.raises(MemAuditError, match="unknown judge 'oracle'"):
        named_judge("oracle")
    with pytest.raises(MemAuditError, match="labels:FILE only"):
        named_judge("lexical", tmp_path)

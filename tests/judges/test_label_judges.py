"""Judges that read a file: what their labels and calls leave out is not zero."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.judges.label_judges import LabelJudge, PublishedJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import Memory
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.score.judge import Judgement, MemoryText, NotJudged, refuse_shared_ids
from tests.cli.running import write_rows
from tests.kernel.score.small_stores import exported

UNITS = [EvidenceUnit(id="move", kind="fact"), EvidenceUnit(id="fee", kind="fact")]
LUNCH = [MemoryText("lunch::a", "x", example="lunch"), MemoryText("lunch::b", "y", example="lunch")]
HALF = Fraction(1, 2)


def label(id: str, unit: str, coverage: float, **more: str) -> dict[str, Any]:
    return {"memory_id": id, "unit_id": unit, "coverage": coverage, **more}


def edges(example: str, *rows: tuple[str, str, float]) -> dict[str, Any]:
    return {"instance_id": example, "coverage_edges": [label(*row) for row in rows]}


def values(found: Judgement) -> dict[str, dict[str, Fraction]]:
    return {id: {unit: cell.value for unit, cell in row.items()} for id, row in found.cells.items()}


def test_labels_by_id_and_by_text(tmp_path: Path) -> None:
    """By the store's own ids, or through a file that says which texts other ids stand for. Line 3
    of the labelled export is not line 3 of another one: its number alone labels nothing. A text
    that nobody labelled is refused, not zero; one that is named without a label is zero."""
    labels = tmp_path / "ann.csv"
    labels.write_text('memory_id,unit_id,coverage,why\nm1,move,1,"says so"\nm1,fee,0.5,half\n')
    found = LabelJudge(labels).judge([MemoryText("m1", "text")], UNITS)
    assert values(found) == {"m1": {"move": 1, "fee": HALF}}
    assert found.cells["m1"]["move"].provenance == "pass:ann"
    row = {"memory_id": "m1", "text": "a  text", "sources": [{"line": 3}]}
    named = write_rows(tmp_path / "memories.jsonl", row)
    other = MemoryText("line-3", "something else")
    texts = [other, MemoryText("x", "a text"), MemoryText("y", "a text ")]
    with pytest.raises(NotJudged, match=r"1 of 3 memories are not among the texts .* 'line-3'"):
        LabelJudge(labels, named).judge(texts, UNITS)
    with pytest.raises(NotJudged, match="no label is about a memory of this store; no text of the"):
        LabelJudge(labels, named).judge([other], UNITS)
    write_rows(named, row, {"memory_id": "m2", "text": "something else"})
    cells = LabelJudge(labels, named).judge(texts, UNITS).cells
    units = {id: set(own) for id, own in cells.items()}
    assert units == {"line-3": set(), "x": {"move", "fee"}, "y": {"move", "fee"}}
    assert LabelJudge(labels, named).judge([other], UNITS).cells == {"line-3": {}}


def test_several_files_count_together(tmp_path: Path) -> None:
    """Each with its file of memories, since both may use the same ids for other texts."""
    files, memories = [], []
    for name, unit in (("a", "move"), ("b", "fee")):
        files.append(write_rows(tmp_path / f"{name}.jsonl", label("m1", unit, 1)))
        text = {"memory_id": "m1", "text": f"text {name}"}
        memories.append(write_rows(tmp_path / f"of-{name}.jsonl", text))
    texts = [MemoryText("x", "text a"), MemoryText("y", "text b")]
    judge = LabelJudge(files, memories)
    assert judge.name == "labels a, b"
    found = judge.judge(texts, UNITS)
    assert values(found) == {"x": {"move": 1}, "y": {"fee": 1}}
    assert found.cells["y"]["fee"].provenance == "pass:b"
    with pytest.raises(MemAuditError, match="2 files of labels and 1 file of memories: give one"):
        LabelJudge(files, memories[:1])
    with pytest.raises(NotJudged, match="1 of 2 memories are not among the texts"):
        LabelJudge(files[:1], memories[:1]).judge(texts, UNITS)
    write_rows(memories[1], {"memory_id": "m1", "text": "text a"})
    write_rows(files[1], label("m1", "move", 0))
    with pytest.raises(MemAuditError, match=r"b\.jsonl.*a second time, differently"):
        LabelJudge(files, memories).judge(texts[:1], UNITS)


def test_texts_beside_labels(tmp_path: Path) -> None:
    """The field `memory` says which text an id of the labels stands for, as a file of memories
    would: ids of stores do not matter, and a text that nobody labelled is refused."""
    path = write_rows(
        tmp_path / "a.jsonl",
        label("1", "move", 1, memory="a  text"),
        label("1", "fee", 0.5, memory="a  text"),
        label("2", "fee", 0, memory="more"),
    )
    judge = LabelJudge(path)
    assert judge.judges_candidates
    found = judge.judge([MemoryText("x", "a text"), MemoryText("2", "a text")], UNITS)
    assert values(found) == {id: {"move": 1, "fee": HALF} for id in ("x", "2")}
    with pytest.raises(NotJudged, match=r"1 of 2 memories are not among the texts .* '1'; label"):
        judge.judge([MemoryText("x", "a text"), MemoryText("1", "other")], UNITS)
    for wrong, message in (
        (label("1", "fee", 1, memory="other"), r"a\.jsonl:2: gives memory '1' another text than l"),
        (label("2", "fee", 1), r"a\.jsonl:2: lacks the field 'memory', which other rows have"),
    ):
        write_rows(path, label("1", "move", 1, memory="a text"), wrong)
        with pytest.raises(MemAuditError, match=message):
            LabelJudge(path)


def test_which_labels_go_by_id(tmp_path: Path) -> None:
    """Two stores that share an id may be judged by labels that have texts, by others not; however
    a program quotes the header."""
    stores = [exported(Memory(id="1", text=name), name=name) for name in ("s", "t")]
    path = tmp_path / "a.csv"
    path.write_text('\ufeff"memory_id","unit_id","coverage","memory"\n1,fee,1,s\n')
    refuse_shared_ids(LabelJudge(path), stores)
    path.write_text("memory_id,unit_id,coverage,why\n1,fee,1,so\n")
    with pytest.raises(MemAuditError, match="two stores have a memory '1', and labels a names"):
        refuse_shared_ids(LabelJudge(path), stores)


def test_labels_that_do_not_fit(tmp_path: Path) -> None:
    """Unknown units, labels about nothing here and contradictions are errors, not zeros."""
    path, fits = tmp_path / "a.jsonl", label("m1", "fee", 1)
    for memory, rows, message in (
        ("m1", [label("m1", "nope", 1)], "names the unknown unit 'nope'"),
        ("m2", [fits], "no label is about a memory of this store"),
        ("m1", [fits, label("m1", "fee", 0)], "a second time, differently"),
    ):
        write_rows(path, *rows)
        with pytest.raises(MemAuditError, match=message):
            LabelJudge(path).judge([MemoryText(memory, "t")], UNITS)
    write_rows(path, fits)
    assert LabelJudge(path).judge([], UNITS).cells == {}


def test_labels_that_are_left_out_are_counted(tmp_path: Path) -> None:
    """About memories of another store, and of ids nobody names. Labels of other conversations are
    those of other packages, and are not missing here."""
    labels = write_rows(
        tmp_path / "a.jsonl",
        label("m1", "fee", 1),
        label("m9", "fee", 1),
        label("m1", "elsewhere", 1, conversation="q"),
        label("m1", "move", 1, conversation="q"),
        label("m1", "move", 0.5, conversation="p"),
    )
    found = LabelJudge(labels).judge([MemoryText("m1", "t", example="p")], UNITS)
    assert values(found) == {"m1": {"fee": 1, "move": HALF}}
    assert found.left_out == {"labels about memories that are not in this store": 1}
    named = write_rows(tmp_path / "memories.jsonl", {"memory_id": "m1", "text": "t"})
    found = LabelJudge(labels, named).judge([MemoryText("x", "t", example="p")], UNITS)
    assert found.left_out["labels whose memory the file of memories does not name"] == 1


def test_calls(tmp_path: Path) -> None:
    """Edges to other memories and units are counted, and so is a call that failed. A store that
    is not of the published layout may use the bare ids of its calls. A call that found nothing is
    judged; a store that wrote nothing needs no call."""
    path = tmp_path / "calls.jsonl"
    lunch = (("a", "move", 1), ("gone", "move", 1), ("b", "other", 0.5), ("b", "gone", 1))
    write_rows(
        path,
        edges("lunch", *lunch),
        edges("dinner", ("a", "move", 1)),
        {"instance_id": "tea", "error": "timeout"},
    )
    found = PublishedJudge(path).judge(LUNCH, UNITS)
    assert values(found) == {"lunch::a": {"move": 1}, "lunch::b": {}}
    assert found.left_out == {
        "calls that failed or could not be read": 1,
        "edges to memories that are not in this store": 1,
        "edges to units that are not in this package": 2,
    }
    bare = PublishedJudge(path).judge([MemoryText("a", "x", example="lunch")], UNITS)
    assert values(bare) == {"a": {"move": 1}}
    write_rows(path, edges("lunch"))
    assert PublishedJudge(path).judge(LUNCH, UNITS).cells == {"lunch::a": {}, "lunch::b": {}}
    assert PublishedJudge(path).judge([], UNITS).cells == {}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([edges("dinner", ("a", "move", 1))], "has no call about 'lunch'; it is about 'dinner'"),
        (
            [edges("dinner"), {"instance_id": "lunch", "error": "rate limit"}],
            "1 call failed or could not be read.*rate limit",
        ),
        ([edges("lunch", ("z", "move", 1))], "no edge of 'lunch' is about a memory of this store"),
    ],
    ids=["calls about others", "a failed call", "edges that all miss"],
)
def test_an_example_without_a_call_is_no_zero(
    rows: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    path = write_rows(tmp_path / "calls.jsonl", *rows)
    with pytest.raises(NotJudged, match=message):
        PublishedJudge(path).judge(LUNCH, UNITS)

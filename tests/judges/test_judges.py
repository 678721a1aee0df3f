"""Judges that need no file, on texts small enough to judge by eye; judges by name."""

import hashlib
import json
import os
from importlib.resources import files
from pathlib import Path

import pytest

from memaudit.building.named_packages import LONG
from memaudit.conversations.registry import read_conversations
from memaudit.judges.judge_file import strangers
from memaudit.judges.label_judges import LabelJudge
from memaudit.judges.lexical import LexicalJudge
from memaudit.judges.registry import PointerJudge, named_judges, refuse_equal_judge_names
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import Memory
from memaudit.kernel.package.package import EvidenceUnit, Source
from memaudit.kernel.score.judge import MemoryText, judged_how, refuse_shared_ids
from tests.kernel.score.small_stores import exported

UNITS = [
    EvidenceUnit(
        id="move", kind="fact", text="Ann moved to Hill Road in May.", sources=(Source(id="t1"),)
    ),
    EvidenceUnit(
        id="fee",
        kind="fact",
        text="The gym costs 45 dollars a month.",
        sources=(Source(id="t2"), Source(id="t3")),
    ),
]


def test_lexical() -> None:
    """All terms and numbers is full; a wrong number is not; nothing shared is nothing; the same
    words get the same cells under any id and any source."""
    memories = [
        MemoryText("a", "In May Ann moved to Hill Road"),
        MemoryText("b", "Gym membership: 40 dollars a month"),
        MemoryText("c", "Ann likes soup"),
        MemoryText("mem0-7", "In May Ann moved to Hill Road", ("t9",)),
    ]
    cells = LexicalJudge().judge(memories, UNITS).cells
    assert cells["a"]["move"].value == 1
    assert cells["b"]["fee"].value < 1
    assert cells["c"] == {}
    assert cells["mem0-7"] == cells["a"]
    assert LexicalJudge.is_estimate
    assert all(cell.provenance == "heuristic:lexical-v2" for cell in cells["a"].values())


def test_pointer() -> None:
    """All source turns must be named; a store that names none, or others, is an error."""
    with pytest.raises(MemAuditError, match="names its sources"):
        PointerJudge().judge([MemoryText("a", "x")], UNITS)
    with pytest.raises(MemAuditError, match="use the ids of its experiences"):
        PointerJudge().judge([MemoryText("a", "x", ("D9:9",))], UNITS)
    memories = [
        MemoryText("a", "x", ("t1",)),
        MemoryText("b", "x", ("t2",)),
        MemoryText("c", "x", ("t3", "t2")),
    ]
    cells = PointerJudge().judge(memories, UNITS).cells
    assert {id: set(row) for id, row in cells.items()} == {"a": {"move"}, "b": set(), "c": {"fee"}}
    partly = PointerJudge().judge([*memories, MemoryText("d", "y")], UNITS)
    assert partly.left_out == {"memories that name no source": 1}


def test_stores_that_share_an_id(tmp_path: Path) -> None:
    """A judge that goes by ids cannot distinguish them; one that goes by texts can."""
    one, other, third = (
        exported(Memory(id=id, text="t"), name=name)
        for name, id in (("one", "m1"), ("other", "m1"), ("third", "m2"))
    )
    label = {"memory_id": "m1", "unit_id": "u", "coverage": 1}
    by_id, by_text = tmp_path / "ids.jsonl", tmp_path / "texts.jsonl"
    by_id.write_text(json.dumps(label))
    by_text.write_text(json.dumps({**label, "memory": "t"}))
    with pytest.raises(MemAuditError, match="two stores have a memory 'm1', and labels ids names"):
        refuse_shared_ids(LabelJudge(by_id), [one, other])
    refuse_shared_ids(LabelJudge(by_id), [one, third])
    refuse_shared_ids(LabelJudge(by_text), [one, other])
    refuse_shared_ids(LexicalJudge(), [one, other])


def test_judges_side_by_side(tmp_path: Path) -> None:
    """The file of labelled memories goes to labels only; equal names are refused."""
    labels = tmp_path / "a.csv"
    labels.write_text("memory_id,unit_id,coverage\nm1,fee,1\n")
    memories = tmp_path / "m.jsonl"
    memories.write_text('{"memory_id": "m1", "text": "t"}\n')
    judges = named_judges(["lexical", f"labels:{labels}"], memories)
    assert [judge.name for judge in judges] == ["lexical", "labels a"]
    refuse_equal_judge_names(judges)
    with pytest.raises(MemAuditError, match="labels:FILE only"):
        named_judges(["lexical", "pointer"], memories)
    with pytest.raises(MemAuditError, match="two judges are called 'lexical'"):
        refuse_equal_judge_names([*judges, judges[0]])


@pytest.mark.parametrize(
    ("judge", "is_estimate", "remark"),
    [
        ("lexical", True, "an ESTIMATE by shared words, not labels"),
        ("labels pass_a", False, "as labelled"),
        ("published calls x.jsonl", False, "as labelled"),
        ("pointer", True, "an ESTIMATE by the turns that memories name as their sources"),
        ("model m1", False, "as a model judged"),
        ("labels pass_a", True, "an ESTIMATE: much of it rests on assumed cells"),
    ],
)
def test_remarks(judge: str, is_estimate: bool, remark: str) -> None:
    """A claim of the store or of a model is not called a label."""
    assert judged_how(judge, is_estimate) == remark


SET = Path(str(files("memaudit").joinpath("examples", LONG)))
FILE = Path(str(files("memaudit").joinpath("judges", "weights", "strangers.json")))


def written() -> str:
    """The file as the set gives it: one conversation per line."""
    sources = ("conversations.jsonl", "units.jsonl")
    digests = {name: hashlib.sha256((SET / name).read_bytes()).hexdigest() for name in sources}
    rows = [json.loads(line) for line in (SET / "units.jsonl").read_text("utf-8").splitlines()]
    lines = []
    for loaded in read_conversations(SET / "conversations.jsonl", "chat"):
        conversation = loaded.conversation
        units = [
            {
                "id": row["unit_id"],
                "kind": row["kind"],
                "text": row["text"],
                "sources": [{"id": turn, "text": row.get("quote") or ""} for turn in row["turns"]],
            }
            for row in rows
            if row["conversation"] == conversation.id
        ]
        cited = {source["id"] for unit in units for source in unit["sources"]}
        said = (turn for session in conversation.sessions for turn in session.turns)
        turns = {turn.id: turn.text for turn in said if turn.id in cited}
        row = {"name": conversation.id, "turns": turns, "units": units}
        lines.append(json.dumps(row, ensure_ascii=False))
    head = json.dumps({"set": LONG, "sha256": digests})[1:-1]
    return "{" + head + ', "conversations": [\n' + ",\n".join(lines) + "\n]}\n"


def test_the_file_is_what_the_set_gives() -> None:
    """Written anew with MEMAUDIT_UPDATE_GOLDEN=1 when the set changes; strangers have units
    and their turns."""
    if os.environ.get("MEMAUDIT_UPDATE_GOLDEN"):
        FILE.write_text(written(), "utf-8")
    assert FILE.read_text("utf-8") == written()
    assert len(strangers()) == 9
    for package in strangers():
        turns = {turn.id for turn in package.experiences}
        assert package.units
        assert all(source.id in turns for unit in package.units for source in unit.sources)

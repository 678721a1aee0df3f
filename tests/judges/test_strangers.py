"""The strangers that the level of chance is measured against are the shipped long set."""

import hashlib
import json
import os
from importlib.resources import files
from pathlib import Path

from memaudit.building.named_packages import LONG
from memaudit.conversations.registry import read_conversations
from memaudit.judges.judge_file import strangers

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
    """Written anew with MEMAUDIT_UPDATE_GOLDEN=1 when the set changes."""
    if os.environ.get("MEMAUDIT_UPDATE_GOLDEN"):
        FILE.write_text(written(), "utf-8")
    assert FILE.read_text("utf-8") == written()


def test_strangers_have_units_and_their_turns() -> None:
    assert len(strangers()) == 9
    for package in strangers():
        turns = {turn.id for turn in package.experiences}
        assert package.units
        assert all(source.id in turns for unit in package.units for source in unit.sources)

"""`memaudit quick`: what it understands, and what it says where something is missing."""

import re
from pathlib import Path

import pytest

from tests.cli.running import done, failure, write_rows
from tests.show.html_tree import assert_sound

CHAT = (
    {"conversation": "ann"},
    {"session": "s", "time": "2025-01-06"},
    {"id": "a", "speaker": "Ann", "text": "I am allergic to peanuts. My cat Miso is 9 years old."},
    {"id": "b", "speaker": "Ann", "text": "I moved to Leeds in March."},
    {"id": "c", "speaker": "Ann", "text": "My Wi-Fi password is Tr0ub4dor93xx now."},
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_rows(tmp_path / "chat.jsonl", *CHAT)
    (tmp_path / "MEMORY.md").write_text("- Ann's cat Miso is 9 years old\n- Ann moved to Leeds\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_both(folder: Path) -> None:
    """In either order: units by rules, a score that is called an estimate, lint, and one
    page. Rows of id and text could be a chat; beside one that says who speaks they are
    memories."""
    result = done("quick", "MEMORY.md", "chat.jsonl")
    assert "transcript: chat.jsonl, read as chat: 3 turns, 4 units" in result.stdout
    assert "store: MEMORY.md, read as markdown: 2 active memories" in result.stdout
    assert "found by rules" in result.stdout
    said = r"in short: the store says \d+% \(between .*\) of everything that could be said.*, an "
    assert re.search(rf"{said}ESTIMATE; lint finds", result.stdout)
    assert "an ESTIMATE" in result.stdout
    assert "next: add questions with evidence" in result.stdout
    (body,) = assert_sound((folder / "quick.html").read_text()).named("body")
    assert "In short: the store says " in body.all_text
    assert "The smallest equivalent store" in body.all_text
    write_rows(folder / "memories.jsonl", {"id": "1", "text": "Ann moved to Leeds"})
    shown = done("quick", "chat.jsonl", "memories.jsonl").stdout
    assert "store: memories.jsonl, read as" in shown
    assert "1 active memory" in shown


def test_one_of_them(folder: Path) -> None:
    assert "next: give the transcript as well" in done("quick", "MEMORY.md").stdout
    shown = done("quick", "chat.jsonl", "--out", "talk.html").stdout
    assert "next: give the store as well" in shown.replace("\n", " ")
    page = (folder / "talk.html").read_text()
    assert "I moved to Leeds" in page
    assert "Tr0ub4dor93xx" not in page


def test_refusals(folder: Path) -> None:
    assert "does not exist" in failure("quick", "nowhere.md")
    assert "are both transcripts" in failure("quick", "chat.jsonl", "chat.jsonl", "--out", "x.html")
    (folder / "other.md").write_text("- Likes tea\n")
    assert "is a transcript that can be read" in failure("quick MEMORY.md other.md --out x.html")
    (folder / "diary.txt").write_text("dear diary")
    assert "already exists" in failure("quick", "MEMORY.md", "--out", "diary.txt")
    assert not (folder / "x.html").exists()

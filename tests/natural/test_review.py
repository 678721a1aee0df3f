"""What a review found wrong once: coverage that claimed too much, and builds that mixed."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.natural.build_folder import packages_at
from memaudit.natural.coverage_rules import CITED, FULL, INCLUSION, PARTIAL, calls_outdated, lexical
from tests.cli.running import failure, run

CHAT = """{"conversation": "books"}
{"session": "one", "time": "2025-01-06 12:30"}
{"id": "ask", "speaker": "Ann", "text": "Which book did you love as a child?"}
{"id": "say", "speaker": "Bob", "text": "I loved Charlotte's Web as a child."}
{"question": "Bob's favourite book?", "answer": "Charlotte's Web", "evidence": ["say"]}
"""
UNIT = {
    "conversation": "books", "unit_id": "u1", "kind": "fact", "turns": ["ask", "say"],
    "text": "Bob loved Charlotte's Web as a child.", "quote": "I loved Charlotte's Web",
    "questions": [0],
}  # fmt: skip


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """One conversation, one unit that cites two turns."""
    (tmp_path / "chat.jsonl").write_text(CHAT)
    (tmp_path / "units.jsonl").write_text(json.dumps(UNIT) + "\n")
    return tmp_path


def test_a_cited_turn_without_the_quote_is_not_exact(dataset: Path) -> None:
    """The question is cited beside the answer; only the answer states the unit."""
    result = run(
        "build", dataset / "chat.jsonl", "--units", dataset / "units.jsonl", "--out", dataset / "d"
    )
    assert result.exit_code == 0, result.output
    (package,) = packages_at(dataset / "d")
    kinds = package.candidate
    raw = {
        kinds[row.candidate].experience: (row.value, row.provenance)
        for row in package.coverage
        if kinds[row.candidate].kind == "raw"
    }
    assert sorted(raw.values()) == [(Fraction(1, 2), CITED), (Fraction(1), INCLUSION)]
    text = {kinds[row.candidate].text for row in package.coverage if row.provenance == INCLUSION}
    assert all("Charlotte" in one for one in text)


def test_lost_times() -> None:
    """Without its day, a text keeps a part of something temporal, and all of anything else."""
    said, kept = "I went to a support group yesterday", "Went to a support group recently"
    assert lexical(said, kept).value == FULL
    assert lexical(said, kept, timed=True).value == PARTIAL
    assert lexical(said, "Went to a support group yesterday", timed=True).value == FULL


def test_the_wrong_sentence_called_outdated() -> None:
    """Half of what the turns share must be in it."""
    earlier = "My parents help a lot. They have been staying with me for six months."
    later = "My parents have been staying with me for nine months now."
    assert calls_outdated("They have been staying with me for six months.", earlier, later).value
    wrong = calls_outdated("My parents help a lot.", earlier, later)
    right = calls_outdated("They have been staying with me for six months.", earlier, later)
    assert (wrong.value, right.value) == (PARTIAL, FULL)


def test_another_build_in_the_folder(dataset: Path) -> None:
    """Refused before anything is written."""
    assert run("build", dataset / "chat.jsonl", "--out", dataset / "d").exit_code == 0
    before = {path.name: path.read_bytes() for path in (dataset / "d").iterdir()}
    line = failure("build", dataset / "chat.jsonl", "--out", dataset / "d", "--cost-rule", "bytes")
    assert "holds another build (its cost rule differ)" in line
    assert {path.name: path.read_bytes() for path in (dataset / "d").iterdir()} == before


def test_a_build_folder_validates(dataset: Path) -> None:
    """Like any other path that holds packages."""
    assert run("build", dataset / "chat.jsonl", "--out", dataset / "d").exit_code == 0
    assert run("validate", dataset / "d").exit_code == 0
    assert run("solve", dataset / "d", "--budget", "10").exit_code == 0
    manifest = json.loads((dataset / "d" / "manifest.json").read_text())
    manifest["packages"][0]["file"] = "../p.json"
    (dataset / "d" / "manifest.json").write_text(json.dumps(manifest))
    assert run("validate", dataset / "d").exit_code == 1


def test_a_build_that_fails_half_way_says_what_is_there(dataset: Path) -> None:
    """Packages before the fault stay for the next run, and the line says so."""
    text = CHAT + CHAT.replace("books", "more") + "{not json\n"
    (dataset / "cut.jsonl").write_text(text)
    line = failure("build", dataset / "cut.jsonl", "--out", dataset / "d")
    assert "packages are in" in line or not (dataset / "d").exists()

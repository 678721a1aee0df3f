"""Limits of systems as budgets: what they measure, and what several of them allow together."""

import json
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.cost import cost_rule
from memaudit.stores.system_budgets import LIMITS, is_limit, named_limits
from tests.cli.running import done, failure

CHAT = [
    {"conversation": "ann"},
    {"session": "s", "time": "2025-01-06"},
    {"id": "a", "speaker": "Ann", "text": "I am allergic to peanuts, even traces of them."},
    {"id": "b", "speaker": "Ann", "text": "My cat is called Miso and she is nine."},
    {"question": "Allergy?", "answer": "Peanuts", "evidence": ["a"]},
    {"question": "Cat?", "answer": "Miso", "evidence": ["b"]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package of two units, and a memory file whose second fact stands beyond line 200."""
    (tmp_path / "chat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CHAT))
    done("build", tmp_path / "chat.jsonl", "--out", tmp_path / "packages")
    filler = "".join(f"- Filler number {n} says nothing\n" for n in range(205))
    (tmp_path / "MEMORY.md").write_text(
        f"- Ann is allergic to peanuts, even traces of them\n{filler}"
        "- Ann's cat is called Miso and she is nine\n"
    )
    return tmp_path


def test_what_is_measured() -> None:
    assert cost_rule("characters+3")("é b") == 6
    assert cost_rule("lines")("a\nb") == 2
    assert cost_rule("utf8+3")("é") == 5
    for limit in LIMITS:
        assert is_limit(limit.system)
        assert cost_rule(limit.rule)("text") > 0
        assert limit.source
    assert not is_limit("250")
    assert not is_limit("own")
    assert named_limits("librechat:2000")[0].most == 2000
    for wrong in ("librechat", "librechat:many", "zep", "hermes:3"):
        with pytest.raises(MemAuditError, match=r"known|tokenLimit"):
            named_limits(wrong)


def test_a_file_under_two_limits(folder: Path) -> None:
    """Cut from the top after 200 lines, the file loses the cat; the better file has it."""
    package, file = folder / "packages" / "ann.json", folder / "MEMORY.md"
    better = folder / "better.md"
    shown = done("score", package, file, "--budget", "claude-code", "--better", better)
    last = shown.stdout.replace("\n", " ")
    assert "keeps 0.500 of what 200 lines of claude-code could hold (at least, since" in last
    text = better.read_text()
    assert "peanuts" in text
    assert "Miso" in text
    assert len(text.splitlines()) <= 200
    again = failure("score", package, file, "--budget", "hermes", "--better", better)
    assert "already exists" in again
    data = json.loads(done("score", package, file, "--budget", "claude-code", "--json").stdout)
    assert [row["unit"] for row in data["limits"]] == ["lines", "bytes"]
    assert data["under_all"] == [{"store": "MEMORY", "score": 0.5}]
    wrong = failure("score", package, file, "--budget", "hermes", "--cost-rule", "words")
    assert "brings its own cost rule" in wrong


def test_the_list() -> None:
    assert {
        row["system"] for row in json.loads(done("score", "--budget", "limits", "--json").stdout)
    } == {limit.system for limit in LIMITS}

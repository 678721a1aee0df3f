"""`memaudit lint`, `apply` and `diff` as commands: what they print, write and refuse."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.running import done, failure, import_texts, printed_json, run
from tests.lab.sweeps.runs.report.conftest import ATTACK, SHOWN
from tests.show.html_tree import assert_sound

SAID = ("Ann likes tea", f"Bo says {ATTACK}", f"bo says {ATTACK}", "Mail ann@example.org")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return import_texts(tmp_path / "store.json", SAID)


def test_files_and_gate(store: Path, tmp_path: Path) -> None:
    """Every output in one run; the exit code is that of the gate."""
    names = ("page.html", "plan.json", "lint.sarif")
    given = [word for name in names for word in ("--out", tmp_path / name)]
    result = run("lint", store, *given, "--fail-on", "duplicates,error")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "FAIL: duplicates: 1 found"
    assert done("lint", store, "--fail-on", "error,duplicates=1")
    body = assert_sound((tmp_path / "page.html").read_text()).named("body")[0]
    assert "ann@example.org" not in body.all_text
    assert json.loads((tmp_path / "lint.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((tmp_path / "plan.json").read_text())["format"] == "memaudit-plan"
    assert SHOWN.strip() in body.all_text


def test_refusals(store: Path, tmp_path: Path) -> None:
    """One line each, and nothing is written."""
    (tmp_path / "diary.json").write_text("dear diary")
    for names, problem in {
        ("diary.json",): "already exists and is not a plan",
        ("diary.txt",): "the name must end in .html, .json, .sarif, or be that of a folder",
        ("a.html", "b.html"): "the page is written to",
        ("proof",): "there is nothing to prove without units",
    }.items():
        given = [word for name in names for word in ("--out", tmp_path / name)]
        assert problem in failure("lint", store, *given)
    assert (tmp_path / "diary.json").read_text() == "dear diary"
    assert not (tmp_path / "a.html").exists()
    assert "does not exist" in failure("lint", tmp_path / "nowhere.json")
    assert "'dupes' is none of" in run("lint", store, "--fail-on", "dupes").stderr
    (tmp_path / "empty.json").write_text("[]")
    assert "empty list" in failure("lint", tmp_path / "empty.json")
    (tmp_path / "chat.jsonl").write_text('{"nothing": 1}\n')
    assert failure("lint", store, tmp_path / "chat.jsonl").startswith("error: ")


def test_diff(store: Path, tmp_path: Path) -> None:
    """Text, JSON and page say the same."""
    later = import_texts(tmp_path / "later.json", (SAID[0], "Cleo swims"))
    page = tmp_path / "diff.html"
    shown = done("diff", store, later, "--out", page).stdout
    assert "1 added, 0 changed, 3 removed, 1 unchanged" in shown
    assert "ann@example.org" not in shown
    data = printed_json("diff", store, later)
    assert [row["text"] for row in data["added"]] == ["Cleo swims"]
    assert SHOWN.strip() in assert_sound(page.read_text()).named("body")[0].all_text
    same = printed_json("diff", store, store)
    assert (same["unchanged"], same["added"], same["removed"]) == (4, [], [])


def test_the_pre_commit_hook(tmp_path: Path) -> None:
    """The hook's own command line, on a clean file and on one with a secret."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (tmp_path / "MEMORY.md").write_text("- Likes tea\n")
    (tmp_path / "CLAUDE.md").write_text("- The api key is sk-proj-aB3dE6gH9jK2mN5pQ8sTuV\n")
    scripts = ROOT / ".venv" / "bin"
    for names, code in (("MEMORY.md", 0), ("MEMORY.md CLAUDE.md", 1)):
        command = f"PATH={scripts}:$PATH; {hook['entry']} {names}"
        result = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, capture_output=True, check=False
        )
        assert result.returncode == code, result.stdout
    assert b"sk-proj-aB3d" not in result.stdout

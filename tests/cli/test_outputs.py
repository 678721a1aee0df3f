"""What a command writes over, and what it leaves alone."""

from pathlib import Path

import pytest

from memaudit.kernel.io.packages import example_package, write_package
from tests.cli.running import done, failure, run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a package, a chat, an export and scores."""
    monkeypatch.chdir(tmp_path)
    write_package(example_package(), Path("p.json"))
    Path("chat.jsonl").write_text('{"conversation": "c"}\n')
    Path("notes.txt").write_text("Ann eats fish.\n")
    done("import", "plain", "notes.txt", "--out", "store.json")
    Path("scores").mkdir()
    scored = run("score", "p.json", "store.json", "--budget", "5", "--json")
    Path("scores/s.json").write_text(scored.stdout)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("solve p.json --budget 5 --certificate p.json", "p.json"),
        ("board scores --out scores/s.json", "scores/s.json"),
        ("import plain notes.txt --out chat.jsonl", "chat.jsonl"),
        ("import plain notes.txt --out notes.txt", "notes.txt"),
        ("study generate base --out store.json", "store.json"),
        ("package convert p.json notes.txt", "notes.txt"),
        ("package recost p.json p.json --rule bytes", "p.json"),
        ("package recost p.json store.json --rule bytes", "store.json"),
    ],
)
def test_other_files_are_kept(here: Path, words: str, kept: str) -> None:
    before = (here / kept).read_bytes()
    line = failure(*words.split())
    assert kept in line
    assert "another" in line
    assert (here / kept).read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        "solve p.json --budget 5 --certificate c.json",
        "board scores --out board.html",
        "import plain notes.txt --out store.json",
        "study generate base --out new.json",
        "package convert p.json q.json",
        "package recost p.json q.json --rule bytes",
    ],
)
def test_its_own_files_are_written_again(here: Path, words: str) -> None:
    (here / "c.json").touch()  # an empty file is nobody's
    for _ in range(2):
        done(*words.split())

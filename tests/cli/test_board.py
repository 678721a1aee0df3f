"""`memaudit board` on files of `memaudit score --json`."""

import json
from html import unescape
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from tests.cli.running import done, failure, import_texts, run


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two stores of three packages of the natural set: facts, and one of every two of them."""
    folder = tmp_path_factory.mktemp("scores")
    for package in short_set()[:3]:
        home = tmp_path_factory.mktemp(package.name)
        write_package(package, home / "p.json")
        texts = [
            candidate.text
            for candidate in package.candidates
            if candidate.kind not in ("raw", "session")
        ]
        stores = (
            import_texts(home / "all.json", texts),
            import_texts(home / "half.json", texts[::2]),
        )
        scored = done("score", home / "p.json", *stores, "--budget 20,200 --judge lexical --json")
        (folder / f"{package.name}.json").write_text(scored.stdout)
    return folder


def test_table_and_page(scores: Path, tmp_path: Path) -> None:
    """Both are there, and both call the coverage an estimate."""
    page = tmp_path / "board.html"
    result = done("board", scores, "--out", page)
    verdict, coverage, *_ = result.stdout.splitlines()
    assert verdict.startswith("half leads at budget 20, all at budget 200; ")
    assert verdict in unescape(page.read_text())
    assert coverage.startswith("3 packages; coverage: judge lexical, an ESTIMATE")
    assert "score" in result.stdout
    assert "all" in result.stdout
    assert "distinguished" in result.stdout
    assert "3 packages: intervals and tests are rough" in result.stdout
    assert "coverage estimated" in page.read_text()


def test_narrow_terminals(scores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the losses do not fit beside the ratios, they follow in a table of their own."""
    monkeypatch.setattr("memaudit.cli.terminal.PIPE_WIDTH", 80)
    lines = run("board", scores).stdout.splitlines()
    ratios, losses, differences = (i for i, line in enumerate(lines) if line.startswith(" budget "))
    assert not any("loses" in line for line in lines[:ratios])
    assert lines[losses].split()[2:] == ["genera.", "extrac.", "cost", "select."]
    assert not any("…" in line for line in lines[ratios:differences])


def test_one_package(scores: Path, tmp_path: Path) -> None:
    one = sorted(scores.iterdir())[0]
    (tmp_path / "one.json").write_text(one.read_text())
    text = run("board", tmp_path).stdout
    assert "one package only" in text
    assert " to 0." not in text.partition("assumed cells")[2]


def test_wrong_input(scores: Path, tmp_path: Path) -> None:
    assert "not a folder" in failure("board", tmp_path / "none")
    assert "contains neither board.json nor scores" in failure("board", tmp_path)
    for path in sorted(scores.iterdir())[:2]:
        (tmp_path / path.name).write_text(path.read_text())
    data = json.loads(path.read_text())
    (tmp_path / path.name).write_text(json.dumps({**data, "judge": "labels people"}))
    assert "cannot be compared" in failure("board", tmp_path)

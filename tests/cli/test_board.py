"""`memaudit board` on files of `memaudit score --json`."""

import json
from html import unescape
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from tests.cli.running import done, failure, import_texts, printed_json, run


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


def test_json_adds_up(scores: Path) -> None:
    """At a budget everything fits, a store that holds more keeps at least as much."""
    data = printed_json("board", scores)
    assert data["coverage_is_an_estimate"] is True
    rich = {(one["budget"], one["store"]): one for one in data["standings"]}
    assert set(rich) == {("20", "all"), ("20", "half"), ("200", "all"), ("200", "half")}
    assert rich["200", "all"]["cut_to_budget"] == 0
    for one in data["standings"]:
        assert one["score"]["n"] == 3
        assert one["score"]["ci_low"] <= one["score"]["mean"] <= one["score"]["ci_high"]
        assert one["score"]["mean"] <= one["best_subset"]["mean"] + 1e-9
    (late,) = [one for one in data["differences"] if one["budget"] == "200"]
    first, second = (rich["200", late[name]]["score"]["mean"] for name in ("first", "second"))
    gap = first - second
    assert late["difference"]["mean"] == pytest.approx(gap)
    assert late["first"] == "all"


def test_one_package(scores: Path, tmp_path: Path) -> None:
    one = sorted(scores.iterdir())[0]
    (tmp_path / "one.json").write_text(one.read_text())
    text = run("board", tmp_path).stdout
    assert "one package only" in text
    assert " to 0." not in text.partition("assumed cells")[2]


def test_what_scores_do_not_see(scores: Path, tmp_path: Path) -> None:
    """A partly read store and undecided cells are in the table, the JSON and the page."""
    for path in sorted(scores.iterdir()):
        data = json.loads(path.read_text())
        data["undecided_cells"] = data["stores"][0]["undecided_cells"] = 1
        data["stores"][0]["unread_rows"] = 2
        (tmp_path / path.name).write_text(json.dumps(data))
    page = tmp_path / "board.html"
    text = " ".join(run("board", tmp_path, "--out", page).stdout.split())
    data = printed_json("board", tmp_path)
    for said in (
        "all *",
        "PARTLY READ: 2 rows of the export are not in the store",
        "3 cells got no answer and count as not covered",
    ):
        assert said in text
    assert "half *" not in text
    assert data["undecided_cells"] == 3
    assert len(data["not_all_seen"]) == 3
    html = page.read_text()
    assert "PARTLY READ: 2 rows" in html
    assert "incomplete" in html


def test_wrong_input(scores: Path, tmp_path: Path) -> None:
    assert "not a folder" in failure("board", tmp_path / "none")
    assert "contains neither board.json nor scores" in failure("board", tmp_path)
    for path in sorted(scores.iterdir())[:2]:
        (tmp_path / path.name).write_text(path.read_text())
    data = json.loads(path.read_text())
    (tmp_path / path.name).write_text(json.dumps({**data, "judge": "labels people"}))
    assert "cannot be compared" in failure("board", tmp_path)

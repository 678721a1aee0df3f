"""`memaudit score` and `memaudit gate` on a store from a plain export."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.io.packages import write_package
from memaudit.natural.example import natural_set
from tests.cli.running import failure, run


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A package of the natural set, and a store of four lines about it."""
    package = next(iter(natural_set()))
    write_package(package, tmp_path / "p.json")
    texts = [candidate.text for candidate in package.candidates if candidate.kind == "fact"][:4]
    (tmp_path / "export.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in texts)
    )
    result = run("import", tmp_path / "export.jsonl", "--out", tmp_path / "s.json")
    assert result.exit_code == 0, result.output
    return tmp_path / "p.json", tmp_path / "s.json"


def test_scores_add_up(files: tuple[Path, Path]) -> None:
    """JSON with certified denominators; shares of the diagnosis sum to 1 exactly."""
    result = run("score", *files, "--budget", "10,40", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["coverage_is_an_estimate"] is True
    assert [row["budget"] for row in data["scores"]] == [10, 40]
    for row in data["scores"]:
        assert row["union_ratio"]["certified"]
        assert row["upper_pruned"]["union_ratio"] <= 1
        lost = row["diagnosis"]
        shares = [Fraction(step["share"]) for step in lost["losses"].values()]
        assert sum(shares) + Fraction(lost["kept"]) == 1


def test_printed(files: tuple[Path, Path]) -> None:
    """An estimate is called one, and a store over budget is marked."""
    text = run("score", *files, "--budget", "10").stdout
    assert "ESTIMATE" in text
    assert "costs more than the budget" in text
    assert "loses generation" in text


def test_gate(files: tuple[Path, Path]) -> None:
    """Below the bar it fails with exit code 1."""
    assert run("gate", *files, "--budget", "40", "--min-ratio", "0").exit_code == 0
    below = run("gate", *files, "--budget", "10", "--min-ratio", "1")
    assert below.exit_code == 1
    assert below.stdout.startswith("FAIL")
    assert "coverage estimated" in below.stdout


def test_wrong_input(files: tuple[Path, Path]) -> None:
    """One clear line."""
    package, store = files
    assert "unknown judge" in failure("score", package, store, "--budget", "9", "--judge", "me")
    assert "same name" in failure("score", package, store, store, "--budget", "9")
    assert "is no store" in failure("score", package, package, "--budget", "9")
    assert "is no ratio" in failure("gate", package, store, "--budget", "1", "--min-ratio", "50")
    assert "one budget" in failure("gate", package, store, "--budget", "1,2", "--min-ratio", "0")
    line = failure(
        "gate", package, store, "--budget", "1", "--min-ratio", "0", "--policy", "salience"
    )
    assert "has no salience" in line


def test_salience_of_both_sorts(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Write-time and query-aware salience are two rows, never one."""
    store = json.loads(files[1].read_text())
    ids = [memory["id"] for memory in store["memories"]]
    calls = tmp_path / "salience.jsonl"
    scores = {id: {"salience": place} for place, id in enumerate(ids)}
    calls.write_text(json.dumps({"instance_id": "x", "scores": scores}) + "\n")
    plain = run("score", *files, "--budget", "10", "--salience", calls, "--json")
    both = run(
        "score", *files, "--budget", "10", "--salience", calls, "--query-salience", calls, "--json"
    )
    for result in (plain, both):
        assert result.exit_code == 0, result.output
    (one,), (two,) = json.loads(plain.stdout)["scores"], json.loads(both.stdout)["scores"]
    assert set(one["pruned"]) <= {"recency", "salience"}
    assert "query_salience" not in one["pruned"]
    assert ("query_salience" in two["pruned"]) == ("salience" in one["pruned"])

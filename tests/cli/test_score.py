"""`memaudit score` and `memaudit gate` on a store from a plain export."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.io.packages import write_package
from memaudit.natural.named_packages import natural_set
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
    """An estimate is called one, a store over budget is marked, losses are shown by kind."""
    text = run("score", *files, "--budget", "10").stdout
    for part in ("ESTIMATE", "costs more than the budget", "loses generation",
                 "at 10, by kind of unit", "preference"):  # fmt: skip
        assert part in text


def test_gate(files: tuple[Path, Path]) -> None:
    """Below the bar it fails with exit code 1."""
    assert run("gate", *files, "--budget", "40", "--min-ratio", "0").exit_code == 0
    below = run("gate", *files, "--budget", "10", "--min-ratio", "1")
    assert below.exit_code == 1
    assert below.stdout.startswith("FAIL")
    assert "coverage estimated" in below.stdout


def test_wrong_input(files: tuple[Path, Path]) -> None:
    package, store = files
    assert "unknown judge" in failure("score", package, store, "--budget", "9", "--judge", "me")
    assert "same name" in failure("score", package, store, store, "--budget", "9")
    assert "is not a store" in failure("score", package, package, "--budget", "9")
    assert "is not a ratio" in failure("gate", package, store, "--budget", "1", "--min-ratio", "50")
    assert "one budget" in failure("gate", package, store, "--budget", "1,2", "--min-ratio", "0")
    line = failure(
        "gate", package, store, "--budget", "1", "--min-ratio", "0", "--policy", "salience"
    )
    assert "has no salience" in line


def salience(folder: Path, store: Path, example: str = "hotel-rooms", most: int = 9) -> Path:
    """Calls that score the memories of a store by their place, the last the highest."""
    ids = [memory["id"] for memory in json.loads(store.read_text())["memories"]]
    path = folder / "salience.jsonl"
    scores = {id: {"salience": place} for place, id in enumerate(ids[:most])}
    path.write_text(json.dumps({"instance_id": example, "scores": scores}) + "\n")
    return path


def test_salience_of_both_sorts(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Write-time and query-aware salience are two rows, never one."""
    calls = salience(tmp_path, files[1])
    words = ("score", *files, "--budget", "10", "--json")
    for given, rows in (
        (("--salience", calls), {"recency", "salience"}),
        (("--query-salience", calls), {"recency", "query_salience"}),
        (("--salience", calls, "--query-salience", calls),
         {"recency", "salience", "query_salience"}),
    ):  # fmt: skip
        result = run(*words, *given)
        assert result.exit_code == 0, result.output
        (row,) = json.loads(result.stdout)["scores"]
        assert set(row["pruned"]) == rows


def test_salience_that_is_missing(files: tuple[Path, Path], tmp_path: Path) -> None:
    """A memory without a score in the file: no row, and counted; another example: an error."""
    words = ("score", *files, "--budget", "10", "--salience")
    result = run(*words, salience(tmp_path, files[1], most=3), "--json")
    data = json.loads(result.stdout)
    assert set(data["scores"][0]["pruned"]) == {"recency"}
    assert data["stores"][0]["without_salience"] == {"salience": 1}
    text = run(*words, salience(tmp_path, files[1], most=3)).stdout
    assert "no salience row: 1 memory without a score in the file" in text
    other = salience(tmp_path, files[1], example="x")
    assert "has no salience of 'hotel-rooms'" in failure(*words, other)


def test_gate_by_salience(files: tuple[Path, Path], tmp_path: Path) -> None:
    """The policy needs its file; the ratio is that of `memaudit score`."""
    given = ("--salience", salience(tmp_path, files[1]))
    scored = json.loads(run("score", *files, "--budget", "10", *given, "--json").stdout)
    ratio = scored["scores"][0]["pruned"]["salience"]["union_ratio"]
    bar = ("gate", *files, "--budget", "10", "--policy", "salience", *given, "--min-ratio")
    found = run(*bar, ratio)
    assert found.exit_code == 0, found.output
    assert f"reaches {ratio:.4f}" in found.stdout
    assert "cut by salience" in found.stdout


@pytest.fixture
def partly_read(files: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """The same package, and a store two of whose rows could not be read."""
    rows = ['{"text": "Ingrid never wants breakfast booked."}', '{"text": 5}', '{"text": null}']
    (tmp_path / "torn.jsonl").write_text("\n".join(rows))
    made = run("import", "plain", tmp_path / "torn.jsonl", "--out", tmp_path / "torn.json")
    assert made.exit_code == 0, made.output
    return files[0], tmp_path / "torn.json"


def test_a_partly_read_store_says_so(partly_read: tuple[Path, Path]) -> None:
    """In the table, in JSON, at the gate."""
    line = "PARTLY READ: 2 rows of the export are not in the store"
    text = run("score", *partly_read, "--budget", "10").stdout
    assert f"torn: {line}" in text
    data = json.loads(run("score", *partly_read, "--budget", "10", "--json").stdout)
    assert data["stores"][0]["unread_rows"] == 2
    assert line in run("gate", *partly_read, "--budget", "10", "--min-ratio", "0").stdout


def test_lost_units_and_cells(files: tuple[Path, Path]) -> None:
    """If you dispute a score, you need the lost units with their words, step and queries."""
    words = ("score", *files, "--budget", "10", "--show-cells")
    data = json.loads(run(*words, "--json").stdout)
    (row,) = data["scores"]
    assert all(unit["text"] and unit["queries"] and unit["step"] for unit in row["lost_units"])
    (cells,) = data["cells"].values()
    assert all(cell["value"] > 0 and cell["rationale"] for cell in cells)
    text = run(*words).stdout
    assert f"lost by export at 10: {len(row['lost_units'])} unit" in text
    assert f"{len(cells)} cells above 0" in text


def test_explain(files: tuple[Path, Path]) -> None:
    """All about a unit and a memory; what is called neither is an error."""
    words = ("score", *files, "--budget", "10,40", "--explain")
    data = json.loads(run(*words, "u1", "--explain", "line-1", "--json").stdout)
    unit, memory = data["explained"]
    assert unit["unit"]["queries"]
    assert [one["budget"] for one in unit["unit"]["scores"]] == [10, 40]
    assert memory["memories"][0]["memory"] == "line-1"
    text = run(*words, "u1").stdout
    assert "unit u1 (preference, weight 1)" in text
    assert "asked for by" in text
    assert "in candidate" in text
    assert "nothing is called 'u99'" in failure(*words, "u99")


def test_one_file_of_labels_for_each_store(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Stores that share ids need files of their own, which go to them in their order."""
    package, store = files
    data = json.loads(store.read_text())
    again = tmp_path / "again.jsonl"
    again.write_text("".join(json.dumps({"text": one["text"]}) + "\n" for one in data["memories"]))
    assert run("import", again, "--out", tmp_path / "again.json").exit_code == 0
    words = ("score", package, store, tmp_path / "again.json", "--budget", "40", "--json")
    judges = []
    for name, value in (("full", 1), ("half", 0.5)):
        row = {"memory_id": "line-1", "unit_id": "u1", "coverage": value}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
        judges += ["--judge", f"labels:{tmp_path / name}.jsonl"]
    assert "two stores have a memory 'line-1'" in failure(*words, *judges[:2])
    result = run(*words, *judges)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [row["value"] for row in found["scores"]] == [1, 0.5]
    assert found["judge"] == "labels full, labels half"
    mixed = ("--judge", "lexical", "--judge", "pointer")
    assert "one judge for all stores" in failure(*words, *mixed)


@pytest.mark.parametrize("command", ["score", "gate", "audit judges", "sensitivity"])
def test_no_time_limit(files: tuple[Path, Path], command: str) -> None:
    """One line in every command; `memaudit solve` tries the other numbers."""
    words = {
        "gate": ("--min-ratio", "0"),
        "audit judges": ("--judge", "lexical", "--against", "pointer"),
    }.get(command, ())
    line = failure(*command.split(), *files, "--budget", "9", *words, "--seconds=nan")
    assert "is not a time limit" in line


def test_budgets_and_caps(files: tuple[Path, Path]) -> None:
    assert "budget 10 is given twice" in failure("score", *files, "--budget", "10,20,10.0")
    assert "--group-cap 0 is below 1" in failure("score", *files, "--budget", "9", "--group-cap", 0)

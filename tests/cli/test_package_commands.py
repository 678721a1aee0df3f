"""The package commands: what they print, and how they fail."""

import io
import json
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import Result

from memaudit.cli import main
from memaudit.cli.package_tables import columns_of
from memaudit.cli.terminal import columns_table
from memaudit.kernel.errors import MissingTool
from memaudit.kernel.io.packages import read_package, read_packages
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.version import VERSION
from tests.cli.running import done, failure, printed_json, run
from tests.published_layout import write_artifact


def test_validate_says_ok(tiny: Package, tiny_file: Path, tmp_path: Path) -> None:
    """Name, digest, counts and cost rule on one line; machine-readable for good and bad
    paths alike; any problem fails the command."""
    result = done("package", "validate", tiny_file)
    counts = "2 experiences, 3 candidates, 2 units, 1 queries, 3 coverage"
    assert result.output == f"OK tiny {digest(tiny)[:16]} {counts}, cost rule declared\n"
    result = run("package", "validate", "--json", tiny_file, tmp_path / "no.json")
    good, bad = json.loads(result.stdout)
    assert result.exit_code == 1
    assert good["packages"][0]["digest"] == digest(tiny)
    problem = {"file": "no.json", "message": "does not exist", "fix": "check the path"}
    assert bad["problems"] == [{**problem, "line": None, "id": None}]


def test_every_problem_is_printed(tiny_file: Path) -> None:
    """The first line counts them; control characters in them are escaped."""
    text = tiny_file.read_text().replace('"value": 1}', '"value": "x"}')
    tiny_file.write_text(text.replace('"kind": "fact"', '"kind": "fact", "\\u001b[31m": 1', 1))
    for command, *more in (("validate",), ("show",), ("convert", tiny_file.parent / "x")):
        result = run("package", command, tiny_file, *more)
        assert result.exit_code == 1
        first, *rest = result.stderr.splitlines()
        assert first == f"invalid package {tiny_file}: 3 problems"
        assert r"has the unknown field '\x1b[31m'" in rest[0]
        assert rest[1].strip().startswith("tiny.json:27: 'm1 x u1' has a bad field 'value'")
        assert len(rest) == 3


def test_convert_between_all_forms(tiny: Package, tiny_file: Path, tmp_path: Path) -> None:
    """File to folder to file, and from the published layout: the same package."""
    first = done("package", "convert", tiny_file, tmp_path / "d")
    assert first.stdout == f"wrote 1 package to {tmp_path / 'd'}\n"
    write_artifact([tiny], tmp_path / "a")
    for source in ("d", "a"):
        done("package", "convert", tmp_path / source, tmp_path / "again.json")
        assert read_package(tmp_path / "again.json") == tiny


def test_convert_one_of_many(tiny: Package, tmp_path: Path) -> None:
    """The published layout may hold several packages; --name takes one out."""
    write_artifact([tiny, tiny.replace(name="b")], tmp_path / "a")
    words = ("package", "convert", tmp_path / "a", tmp_path / "x.json")
    assert "choose one with --name" in failure(*words)
    done(*words, "--name", "b")
    assert [package.name for package in read_packages(tmp_path / "x.json")] == ["b"]
    assert "has no package named 'z'" in failure(*words, "--name", "z")
    done("package", "convert", "natural", tmp_path / "shipped.json", "--name", "greyhound-knee")
    assert read_package(tmp_path / "shipped.json").name == "greyhound-knee"


LISTED = ("units", "queries", "candidates")
LONG = "The user asked for the vegetarian menu, and " * 20


def test_show_lists_rows_on_request(tiny: Package, tiny_file: Path) -> None:
    """Without options the summary and a line about them; with some, those tables and no summary."""
    printed = done("package", "show", tiny_file).stdout
    assert "candidates (cost)" in printed
    assert printed.endswith("--list units, queries or candidates lists all rows with their texts\n")
    for name, other in zip(LISTED, (*LISTED[1:], LISTED[0]), strict=True):
        table = done("package", "show", tiny_file, "--list", name).stdout
        assert f"\n{len(getattr(tiny, name))} {name}\n" in table
        assert other not in table
        assert "what" not in table
    assert " u1   fact " in done("package", "show", tiny_file, "--list", "units").stdout
    refused = failure("package", "show", tiny_file, "--list", "memories")
    assert "--list memories: choose units, queries, candidates" in refused


@pytest.mark.parametrize("width", [80, 120])
def test_listings_fit_the_terminal(tiny: Package, width: int) -> None:
    """Every row and every word of a long text, however long the ids; nothing is cut."""
    many = [
        {
            "id": f"candidate-{n}-{'x' * 40}",
            "experience": tiny.experiences[0].id,
            "kind": "fact",
            "cost": 1,
            "text": f"{LONG}[b]{n}",
        }
        for n in range(300)
    ]
    query = tiny.queries[0].model_copy(update={"text": "Which menu?", "answer": LONG})
    package = tiny.replace(candidates=many, coverage=(), queries=(query,))
    for table, words in (("candidates", [f"[b]{n}" for n in range(300)]), ("queries", ["→"])):
        screen = Console(width=width, file=io.StringIO(), highlight=False)
        shown = [column for column in columns_of(package)[table] if column.short]
        screen.print(columns_table(shown, getattr(package, table)))
        printed = screen.file.getvalue()  # type: ignore[attr-defined]
        assert max(map(len, printed.splitlines())) <= width
        assert printed.split().count("vegetarian") == 20 * len(words)
        assert set(words) <= set(printed.split())


def test_show_json(tiny: Package, tiny_file: Path) -> None:
    """Exact numbers, what each row is connected to, and only the lists that were asked for."""
    (plain,) = printed_json("package", "show", tiny_file)
    assert (plain["name"], plain["digest"]) == ("tiny", digest(tiny))
    assert not {"units", "queries", "candidates"} & plain.keys()
    (data,) = printed_json(
        "package show", tiny_file, *(word for name in LISTED for word in ("--list", name))
    )
    assert [row["weight"] for row in data["units"]] == [
        tiny.weights[unit.id] for unit in tiny.units
    ]
    assert data["queries"][0]["requires"] == list(tiny.queries[0].required)
    covered = {(cell.candidate, cell.unit) for cell in tiny.coverage if cell.value}
    assert {(row["id"], unit) for row in data["candidates"] for unit in row["covers"]} == covered
    assert {(id, row["id"]) for row in data["units"] for id in row["covered_by"]} == covered
    assert [row["text"] for row in data["candidates"]] == [row.text for row in tiny.candidates]


def test_interruption_and_missing_parts(tiny_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C exits 130; a missing optional part is one line; a missing command too."""

    def fail(error: BaseException) -> Result:
        alone = typer.Typer(add_completion=False)

        @alone.command("verify")
        def command(path: str) -> None:  # noqa: ARG001
            raise error

        monkeypatch.setattr(main, "load", lambda _: typer.main.get_command(alone))
        return run("verify", tiny_file)

    interrupted = fail(KeyboardInterrupt())
    assert (interrupted.exit_code, interrupted.stderr) == (130, "interrupted\n")
    missing = fail(MissingTool("needs x: pip install x"))
    assert (missing.exit_code, missing.stderr) == (1, "error: needs x: pip install x\n")
    absent = fail(ModuleNotFoundError("no", name="gurobipy"))
    assert absent.stderr == "error: this needs gurobipy: pip install gurobipy\n"
    damaged = fail(ModuleNotFoundError("no", name="memaudit.kernel.package.cost"))
    assert damaged.stderr.startswith(
        "error: this needs memaudit.kernel.package.cost: this installation is "
    )


def test_recost_schema_and_version(tiny: Package, tiny_file: Path, tmp_path: Path) -> None:
    recost = ("package recost", tiny_file, tmp_path / "w.json")
    done(*recost, "--rule words")
    assert read_package(tmp_path / "w.json") == tiny.recost("words")
    line = failure(*recost, "--rule letters")
    assert line.startswith("error: unknown cost rule 'letters'; known rules: ")
    done("package schema --out", tmp_path / "s.json")
    assert (tmp_path / "s.json").read_text() == (text := done("package schema").stdout)
    assert json.loads(text)["title"] == "Package"
    assert done("--version").stdout == f"memaudit {VERSION}\n"

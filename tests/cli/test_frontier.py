"""`memaudit frontier`: steps, JSON and figures."""

import json
from fractions import Fraction
from pathlib import Path

from memaudit.cli.frontier import evenly
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from tests.cli.running import failure, printed_json, run


def test_json(tiny: Package, tiny_file: Path) -> None:
    """By hand: nothing fits 0; m3 fits 1; m2 and m3 cost 4/3, fitting 2; m1 and m3 fit 3."""
    (one,) = printed_json("frontier", tiny_file, "--max-budget", 4)
    assert one["values"] == [0, 1, 2, 3, 3]
    assert [(step["budget"], step["value_exact"]) for step in one["steps"]] == [
        (0, "0"),
        (1, "1"),
        (2, "2"),
        (3, "3"),
    ]
    assert (one["package"], one["digest"], one["group_cap"]) == ("tiny", digest(tiny), 1)
    assert one["max_budget"] == 4
    assert one["method"]


def test_table(tiny_file: Path) -> None:
    """The budgets where the optimum rises, and how much of the last value that is."""
    lines = run("frontier", tiny_file, "--max-budget", 4).stdout.splitlines()
    assert lines[0].startswith("tiny  digest ")
    rows = [line.split() for line in lines if line.strip().endswith("%")]
    assert rows == [
        ["0", "0", "0.0%"],
        ["1", "1", "33.3%"],
        ["2", "2", "66.7%"],
        ["3", "3", "100.0%"],
    ]


def test_evenly_chosen_rows() -> None:
    """Few are shown as they are; of many, the first, the last and those between."""
    steps = [(budget, Fraction(budget)) for budget in range(101)]
    assert evenly(steps[:25], 25) == steps[:25]
    assert [budget for budget, _ in evenly(steps, 5)] == [0, 25, 50, 75, 100]


def test_bad_options(tiny_file: Path) -> None:
    """One line, exit code 1, before any work."""
    for options, message in {
        (-1,): "--max-budget must be at least 0, not -1",
        (1, "--set", "score.group_cap=0"): "--set: score.group_cap must be at least 1, not 0",
    }.items():
        line = failure("frontier", tiny_file, "--max-budget", *options)
        assert line.startswith(f"error: {message}")


def test_the_file_that_is_written(tiny_file: Path, tmp_path: Path) -> None:
    """What --json prints."""
    out = tmp_path / "f.json"
    printed = printed_json("frontier", tiny_file, "--max-budget", 4, "--out", out)
    assert json.loads(out.read_text()) == printed


def test_another_file_is_not_overwritten(tiny_file: Path) -> None:
    error = failure("frontier", tiny_file, "--max-budget", 4, "--out", tiny_file)
    assert error == f"error: {tiny_file}: already exists and is not a frontier; choose another file"
    assert failure("frontier", tiny_file, "--max-budget", 4, "--set", "solver.threads=0") == (
        "error: --set: solver.threads must be at least 1, not 0"
    )

"""`memaudit frontier`: steps, JSON and figures."""

import json
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

from memaudit.cli.frontier import evenly
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.objective import value
from memaudit.kernel.package.package import Package
from tests.cli.running import done, failure, printed_json, run
from tests.kernel.solvers.test_hull import random_package as two_levels


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


def test_plot(tiny_file: Path, tmp_path: Path) -> None:
    """Drawn twice, the same bytes; nothing else is left behind."""
    image = tmp_path / "f.svg"
    drawn = []
    for _ in range(2):
        done("frontier", tiny_file, "--max-budget", 4, "--plot", image)
        drawn.append(image.read_bytes())
    assert drawn[0].startswith(b"<svg ")
    assert drawn[0] == drawn[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [image.name, "tiny.json"]


def test_bad_options(tiny_file: Path, tmp_path: Path) -> None:
    """One line, exit code 1, before any work."""
    nowhere = tmp_path / "no" / "f.svg"
    for options, message in {
        (-1,): "--max-budget must be at least 0, not -1",
        (1, "--plot", "f.bmp"): "cannot draw f.bmp: the name must end in .svg",
        (1, "--plot", nowhere): f"cannot write {nowhere}",
        (1, "--set", "score.group_cap=0"): "--set: score.group_cap must be at least 1, not 0",
    }.items():
        line = failure("frontier", tiny_file, "--max-budget", *options)
        assert line.startswith(f"error: {message}")


KILLED_AFTER_THREE = """
import os, runpy, signal
from memaudit.cli.frontier import _Unfinished

add, parts = _Unfinished.add, []

def add_and_die(self, key, part):
    add(self, key, part)
    parts.append(part)
    if len(parts) == 3:
        os.kill(os.getpid(), signal.SIGKILL)

_Unfinished.add = add_and_die
runpy.run_module("memaudit.cli.main", run_name="__main__")
"""


def test_a_stopped_frontier_continues(tmp_path: Path) -> None:
    """Killed after three parts, and run again: the same file as without, and nothing beside it."""
    package, union = two_levels(7, 200, 60), tmp_path / "union.json"
    write_package(package, union)
    out, journal = tmp_path / "f.json", tmp_path / "f.json.part"
    options = ["frontier", str(union), "--max-budget", "700", "--out"]
    killed = subprocess.run([sys.executable, "-c", KILLED_AFTER_THREE, *options, str(out)])
    assert killed.returncode == -signal.SIGKILL
    assert not out.exists()
    assert journal.read_bytes().count(b"\n") == 3
    done(*options, out)
    whole = tmp_path / "whole.json"
    done(*options, whole)
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.json", "union.json", "whole.json"]
    (data,) = json.loads(out.read_text())
    step = data["steps"][-1]
    assert float(value(package, step["store"]).low) == step["value"]


def test_another_file_is_not_overwritten(tiny_file: Path) -> None:
    error = failure("frontier", tiny_file, "--max-budget", 4, "--out", tiny_file)
    assert error == f"error: {tiny_file}: already exists and is not a frontier; choose another file"
    out, part = tiny_file.with_name("f.json"), tiny_file.with_name("f.json.part")
    part.write_text("mine")
    error = failure("frontier", tiny_file, "--max-budget", 4, "--out", out)
    assert error == f"error: {part}: already exists and is no unfinished frontier; move it"
    assert part.read_text() == "mine"
    assert failure("frontier", tiny_file, "--max-budget", 4, "--set", "solver.threads=0") == (
        "error: --set: solver.threads must be at least 1, not 0"
    )

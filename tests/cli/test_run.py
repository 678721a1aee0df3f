"""`memaudit run`, `report`, `reproduce` and `audit` on the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memaudit.workspace.journal import read_journal
from tests.cli.running import done, failure, printed_json, run

SMALL = (
    "--packages",
    "base,update_chain",
    "--seeds",
    "3",
    "--budgets",
    "2,0.1",
    "--set",
    "engine.name=serial",
)


def test_a_small_run(tmp_path: Path) -> None:
    """Rows, summary, ranking and report from one folder."""
    result = done("run", *SMALL, "--writers", "opt,gvt,recency_raw", "--out", tmp_path / "r")
    assert "GVT" in result.stdout
    rows = list(read_journal(tmp_path / "r" / "rows.jsonl"))
    assert len(rows) == 2 * 3 * 2 * 3
    summary = json.loads((tmp_path / "r" / "summary.json").read_text())
    assert len(summary["rows"]) == 2 * 2 * 3
    done("report", tmp_path / "r")
    assert (tmp_path / "r" / "report.html").exists()


@pytest.mark.slow
def test_figures(tmp_path: Path) -> None:
    """Every form of each that can be drawn, and why another cannot."""
    done("run", *SMALL, "--writers", "opt,gvt,recency_raw", "--out", tmp_path / "r")
    report = done("report", tmp_path / "r", "--figures", tmp_path / "figures")
    assert {".png", ".svg", ".pdf"} == {path.suffix for path in (tmp_path / "figures").iterdir()}
    assert "stress_heatmap" in report.stdout


def test_folders_of_other_runs_and_of_none(tmp_path: Path) -> None:
    done("run", *SMALL, "--writers", "gvt", "--out", tmp_path)
    line = failure("run", *SMALL, "--writers", "greedy", "--out", tmp_path)
    assert line.startswith(f"error: {tmp_path} holds another run (different: writers)")
    (tmp_path / "empty").mkdir()
    assert "run.json" in failure("report", tmp_path / "empty")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--suite", "sweet"), "unknown suite 'sweet'"),
        (("--packages", "bass"), "no packages at 'bass'"),
        (("--writers", "poet"), "unknown writer 'poet'"),
        (("--seeds", "few"), "cannot read seeds 'few'"),
        (("--budgets", "many"), "cannot read the budget 'many'"),
        (
            ("--set", "engine.name=steam"),
            "engine.name must be one of processes, serial, dask, not steam",
        ),
        (("--set", "engine.jobs=0"), "engine.jobs must be at least 1"),
        (("--set", "engine.address=tcp://here"), "takes no address"),
    ],
)
def test_wrong_input(tmp_path: Path, arguments: tuple[str, str], line: str) -> None:
    assert line in failure("run", *arguments, "--out", tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_ctrl_c_and_again(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "memaudit.cli.main",
        "run",
        "--packages",
        "base",
        "--seeds",
        "120",
        "--budgets",
        "2,4,8",
        "--writers",
        "gvt,greedy",
        "--out",
        str(tmp_path),
        "--set",
        "engine.name=serial",
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    rows = tmp_path / "rows.jsonl"
    while process.poll() is None and not (rows.exists() and rows.stat().st_size):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again to resume" in errors
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "rows already existed" in again.stderr
    assert len(list(read_journal(rows))) == 120 * 3 * 2


def test_reproduce_with_few_seeds(tmp_path: Path) -> None:
    """It prints every published number; with 20 seeds some differ, and the exit code says so."""
    result = run("reproduce", "controlled", "--seeds", "20", "--out", tmp_path, "--no-figures")
    assert result.exit_code == 1
    assert "of 20 published numbers agree, 20 seeds" in result.stdout
    assert "0.513" in result.stdout
    board = json.loads((tmp_path / "scoreboard.json").read_text())
    verdicts = {line["what"]: line["verdict"] for line in board["lines"]}
    assert verdicts["no-tombstone OPT / OPT on update_chain, B = 6"] == "agree"


def test_audit_solvers() -> None:
    found = printed_json("audit", "solvers", "--rows", "12", "--set", "engine.jobs=1")
    assert {one["solver"] for one in found["solvers"]} == {
        "auto",
        "fast",
        "brute",
        "reference",
        "highs",
    }
    assert {(one["rows"], one["matches"], one["max_difference"]) for one in found["solvers"]} == {
        (12, 12, "0")
    }
    assert "12/12" in run("audit", "solvers", "--rows", "12").stdout

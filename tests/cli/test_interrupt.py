"""Ctrl-C, by a real signal to a real process."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from bench.families import _dense, family
from bench.instance import Instance, as_package
from memaudit.kernel.exact import exact
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.objective import violations
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.compiled.kernel_cache import LINE
from memaudit.kernel.solvers.solve import solve
from tests.cli.running import process as running
from tests.cli.running import run


@pytest.fixture(scope="module")
def hard() -> Package:
    """Far beyond what the reference solver finishes in a test."""
    return as_package(family("H", [101])[1])


@pytest.fixture(scope="module")
def dense() -> Package:
    """Far beyond what any solver here finishes in a test."""
    random = Random("interrupt")
    return as_package(Instance("dense", _dense(random, 120, 200).packed(500)))


def started(file: Path, solver: str, budgets: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        running("solve", file, "--json --budget", budgets, "--solver", solver),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment},
    )


def at_work(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until it used that much of a processor: on a busy machine it starts slowly."""
    used = Path(f"/proc/{process.pid}/stat")
    if not used.exists():
        time.sleep(seconds)
        return
    ticks = os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        user, system = used.read_text().rpartition(")")[2].split()[11:13]
        if int(user) + int(system) >= seconds * ticks:
            return
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize(
    ("solver", "which", "budgets"), [("reference", "hard", "200,190"), ("auto", "dense", "500,490")]
)
def test_ctrl_c_gives_a_bound(
    solver: str, which: str, budgets: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The best store so far with its bound as JSON, exit code 0, no traceback, no second solve."""
    package: Package = request.getfixturevalue(which)
    write_package(package, tmp_path / "h.json")
    if solver == "auto":
        solve(as_package(family("H", [101])[0]), 150, seconds=0.1)  # kernels are on disk then
    process = started(tmp_path / "h.json", solver, budgets)
    at_work(process, 5)
    assert process.poll() is None, "solved before the signal"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err == "interrupted: 1 of 2 not solved\n"
    (one,) = json.loads(out)
    assert (one["status"], one["certified"]) == ("bound", False)
    assert one["note"] == "stopped early"
    assert one["bound"] > one["value"] > 0
    assert violations(package, one["store"], exact(budgets.split(",")[0]), 1) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_while_compiling(dense: Package, tmp_path: Path) -> None:
    """Before there is anything to run: a bound or one line, no traceback."""
    write_package(dense, tmp_path / "d.json")
    process = started(tmp_path / "d.json", "auto", "500", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert process.stderr is not None
    assert process.stderr.readline() == LINE
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert "Traceback" not in err
    if process.returncode == 0:
        (one,) = json.loads(out)
        assert one["status"] == "bound"
        assert one["bound"] > one["value"] > 0
    else:
        assert (process.returncode, out, err) == (130, "", "interrupted\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("seconds", [1, 1.5, 2, 2.5, 3, 4])
def test_ctrl_c_among_many_solves(seconds: float) -> None:
    """It ends the command, whatever it meets: a solve, a number that is written, an import."""
    process = subprocess.Popen(
        running("board"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    at_work(process, seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err.endswith("interrupted\n")
    assert "Traceback" not in err


def test_nothing_to_print(tiny_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt before the first result is exit code 130 and one word."""

    def press(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("memaudit.kernel.solvers.solve.iter_optima", press)
    result = run("solve", tiny_file, "--budget", 3)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")

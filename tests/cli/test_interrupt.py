"""Ctrl-C, by a real signal to a real process."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memaudit.bench.families import family
from memaudit.bench.package import as_package
from memaudit.core.exact import exact
from memaudit.core.package import Package
from memaudit.core.store import violations
from memaudit.io.packages import write_package
from tests.cli.running import run


@pytest.fixture(scope="module")
def hard() -> Package:
    """Far beyond what the reference solver finishes in a test."""
    return as_package(family("H", [101])[1])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_gives_a_bound(hard: Package, tmp_path: Path) -> None:
    """The best store so far with its bound as JSON, exit code 0, no traceback, no second solve."""
    write_package(hard, tmp_path / "h.json")
    command = [
        sys.executable, "-m", "memaudit.cli.main", "solve", str(tmp_path / "h.json"), "--json",
        "--budget", "200,190", "--solver", "reference",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert err == "interrupted: 1 of 2 not solved\n"
    (one,) = json.loads(out)
    assert (one["status"], one["certified"]) == ("bound", False)
    assert one["note"] == "stopped early"
    assert one["bound"] > one["value"] > 0
    assert violations(hard, one["store"], exact(200), 1) == []


@pytest.mark.slow
def test_time_limit(hard: Package, tmp_path: Path) -> None:
    """The same for --seconds, and no certificate is claimed."""
    write_package(hard, tmp_path / "h.json")
    result = run(
        "solve", tmp_path / "h.json", "--seconds", 1, "--solver", "reference", "--json",
        "--certificate", tmp_path / "c.json",
    )  # fmt: skip
    (one,) = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (one["status"], one["note"]) == ("bound", "stopped early")
    assert not (tmp_path / "c.json").exists()
    assert "no certificate for" in result.stderr


def test_nothing_to_print(tiny: Package, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An interrupt before the first result is exit code 130 and one word."""
    from memaudit.solvers import solve as module

    def press(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    write_package(tiny, tmp_path / "p.json")
    monkeypatch.setattr(module, "iter_optima", press)
    result = run("solve", tmp_path / "p.json", "--budget", 3)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted\n")

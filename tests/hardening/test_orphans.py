"""A command that is killed leaves no process, no shared memory and no temporary file."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import process
from tests.hardening.box import ROOT

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")

SOON = 20.0
"""Seconds; workers look every half second, and a busy machine is slow."""


def parents() -> dict[int, int]:
    """Every process that is not a zombie, with its parent."""
    found = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                state, parent = place.joinpath("stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                found[int(place.name)] = int(parent)
    return found


def below(process: int) -> set[int]:
    """All processes that a process started, and those that they started."""
    known = parents()
    found: set[int] = set()
    while more := {one for one, parent in known.items() if parent in {process, *found}} - found:
        found |= more
    return found


def until(done: Callable[[], bool], what: str, seconds: float = SOON) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def shared_memory(process: int) -> list[str]:
    place = Path("/dev/shm")
    names = os.listdir(place) if place.exists() else []
    return [name for name in names if f"-{process}-" in name]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_workers_of_a_run(number: signal.Signals, tmp_path: Path) -> None:
    """They end within seconds, whatever ended their parent."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    rows = tmp_path / "run" / "rows.jsonl"
    said = tmp_path / "said.txt"  # a pipe would stay open with a worker that does not end
    with said.open("w") as output:
        running = subprocess.Popen(
            process(
                "run --packages base --seeds 100000 --budgets 2,4 --writers opt,gvt",
                "--set engine.name=processes --set engine.jobs=2 --out",
                rows.parent,
            ),
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(temporary)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    workers: set[int] = set()
    try:
        until(lambda: rows.exists() and rows.stat().st_size > 0, "the run writes no rows", 120)
        workers = below(running.pid)
        assert len(workers) >= 2
        assert list(temporary.iterdir())
        running.send_signal(number)
        code = running.wait(SOON)
        until(lambda: not workers & set(parents()), "workers outlive the run")
    finally:
        for one in {running.pid, *workers} & set(parents()):
            os.kill(one, signal.SIGKILL)
        running.wait()
    assert code == (-number if number == signal.SIGKILL else 128 + number)
    until(lambda: not shared_memory(running.pid), "shared memory is left")
    assert list(temporary.iterdir()) == []
    if number != signal.SIGKILL:
        assert "run the same command again to resume" in said.read_text()
        assert "Traceback" not in said.read_text()

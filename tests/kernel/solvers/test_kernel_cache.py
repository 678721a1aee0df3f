"""Kernels are compiled once per machine, and again only when a kernel source changes."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memaudit.kernel.solvers.compiled import kernel_cache, types
from memaudit.kernel.solvers.compiled.kernel_cache import (
    LINE,
    drop_stale,
    ensure_compiled,
    kernel_sources,
)

ROOT = Path(__file__).parents[3]
SOLVES = """
from bench.families import family
from bench.instance import as_package
from memaudit.kernel.solvers.fast import solve_batch, solve_packed
from memaudit.kernel.solvers.frontier import frontier
from memaudit.kernel.solvers.protocol import Limits
large, small = family("E", [101])[0], family("A", [1])[0]
assert solve_packed(large.packed, Limits())[2]
assert solve_batch([small.packed], Limits())[0][2]
assert solve_packed(small.packed, Limits())[2]
assert frontier(as_package(family("C", [102])[0]), 50).values
"""


def test_one_process_compiles_while_others_wait(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line on stderr, however many ask, and none once it is done."""
    compiled: list[tuple[str, ...]] = []

    def compile_apart(pieces: tuple[str, ...]) -> bool:
        time.sleep(0.1)
        compiled.append(pieces)
        return True

    monkeypatch.setattr(types, "CACHE", tmp_path)
    monkeypatch.setattr(kernel_cache, "_ready", set())
    monkeypatch.setattr(kernel_cache, "_compile_apart", compile_apart)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ensure_compiled, ["large"] * 4))
    assert compiled == [("bound", "hull", "rest")]
    assert capsys.readouterr().err == LINE
    kernel_cache._ready.clear()
    ensure_compiled("large")
    assert len(compiled) == 1
    ensure_compiled("small")
    assert compiled[1:] == [("small",)]


def test_only_other_kernel_sources_drop_the_cache(tmp_path: Path) -> None:
    """Numba's index files go, and the marks that parts are compiled."""
    names = {path.name for path in kernel_sources()}
    assert {"bound.py", "batch.py", "problem.py", "primal.py", "types.py", "small.py"} <= names
    assert not names & {"large.py", "branch.py", "layout.py", "stage.py", "kernel_cache.py"}
    drop_stale(tmp_path)
    files = [tmp_path / "bound.visit-1.nbi", tmp_path / "large.compiled"]
    for file in files:
        file.touch()
    drop_stale(tmp_path)
    assert all(file.exists() for file in files)
    (tmp_path / kernel_cache.KEY_FILE).write_text("of other sources")
    drop_stale(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [kernel_cache.KEY_FILE]


@pytest.mark.slow
def test_a_new_machine(tmp_path: Path) -> None:
    """Two processes at once compile each part once; a third compiles nothing at all."""

    def start() -> subprocess.Popen[str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            [sys.executable, "-c", SOLVES], env=environment, stderr=subprocess.PIPE, text=True
        )

    both = [start(), start()]
    assert sorted(process.communicate()[1] for process in both) in (["", 2 * LINE], [LINE, LINE])
    assert [process.returncode for process in both] == [0, 0]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")}
    third = start()
    assert (third.communicate()[1], third.returncode) == ("", 0)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb?")} == before

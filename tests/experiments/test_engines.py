"""One conformance suite for every engine; the clusters are real local ones."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.experiments.engines import dask_cluster
from memaudit.experiments.engines.protocol import Engine, in_order
from memaudit.experiments.engines.registry import ENGINES, named_engine
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.sweep import run
from memaudit.io.run_folder import ROWS

NEEDS = {"dask": "distributed", "ray": "ray"}


def slow_square(task: tuple[int, int]) -> tuple[int, int]:
    """Later tasks finish first."""
    number, pause = task
    time.sleep(pause / 200)
    return number * number, os.getpid()


def in_order_from(engine: Engine) -> None:
    """Results come in order, whoever finishes first; and all but serial use other processes."""
    results = list(engine.map(slow_square, [(n, 8 - n) for n in range(8)]))
    assert [square for square, _ in results] == [n * n for n in range(8)]
    assert (os.getpid() in {pid for _, pid in results}) == (engine.name == "serial")


def fails(task: int) -> int:
    """Task 2 is not there."""
    if task == 2:
        raise MemAuditError("task 2 is not there")
    return task


def errors_from(engine: Engine) -> None:
    """An error's line is kept, and no result after it is handed on."""
    seen: list[int] = []
    results = engine.map(fails, range(4))
    with pytest.raises(MemAuditError, match="task 2 is not there"):
        seen.extend(results)
    assert seen == [0, 1][: len(seen)]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(ENGINES) - {"ray"}))
def test_results_and_errors(name: str) -> None:
    """Of Ray below: it takes long to start."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    engine = named_engine(name, 2)
    assert engine.name == name
    in_order_from(engine)
    errors_from(engine)


SPEC = RunSpec(("base",), tuple(range(6)), ("2", "8"), ("gvt", "recency_raw"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dask", "ray"])
def test_a_sweep_on_a_local_cluster(name: str, tmp_path: Path) -> None:
    """The same bytes as in one process."""
    pytest.importorskip(NEEDS[name])
    run(SPEC, tmp_path / "here", named_engine("serial"))
    run(SPEC, tmp_path / "there", named_engine(name, 2))
    assert (tmp_path / "there" / ROWS).read_bytes() == (tmp_path / "here" / ROWS).read_bytes()


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@pytest.fixture
def dask_address() -> Iterator[str]:
    """A Dask cluster that somebody else runs."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def ray_address() -> Iterator[str]:
    """A Ray cluster that somebody else runs."""
    pytest.importorskip("ray")
    address = f"127.0.0.1:{free_port()}"
    ray = [sys.executable, "-m", "ray.scripts.scripts"]
    head = [*ray, "start", "--head", f"--port={address.rpartition(':')[2]}", "--num-cpus=1"]
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    # A short folder: Ray's sockets live in it, and their paths may have 107 letters at most.
    folder = tempfile.mkdtemp(prefix="r")
    process = subprocess.Popen(
        [*head, "--include-dashboard=false", "--block", f"--temp-dir={folder}"],
        env={**os.environ, **quiet}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    port = int(address.rpartition(":")[2])
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dask", "ray"])
def test_a_cluster_at_an_address(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """It is used and left running."""
    address = request.getfixturevalue(f"{name}_address")
    in_order_from(named_engine(name, address=address))
    errors_from(named_engine(name, address=address))
    run(SPEC, tmp_path / "here", named_engine("serial"))
    for folder in ("one", "two"):
        run(SPEC, tmp_path / folder, named_engine(name, address=address))
        assert (tmp_path / folder / ROWS).read_bytes() == (tmp_path / "here" / ROWS).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "line"),
    [("dask", "no Dask scheduler answers"), ("ray", "cannot reach a Ray cluster")],
)
def test_no_cluster_there(name: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(NEEDS[name])
    monkeypatch.setattr(dask_cluster, "PATIENCE", 2)
    address = f"{'tcp://' if name == 'dask' else ''}127.0.0.1:{free_port()}"
    with pytest.raises(MemAuditError, match=line):
        list(named_engine(name, address=address).map(fails, [0]))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("abacus",), "unknown engine 'abacus'"),
        (("processes", 0), "--jobs must be at least 1"),
        (("serial", None, "tcp://x"), "takes no address"),
    ],
)
def test_wrong_engines(arguments: tuple[object, ...], line: str) -> None:
    with pytest.raises(MemAuditError, match=line):
        named_engine(*arguments)  # type: ignore[arg-type]


def test_the_window_is_bounded() -> None:
    """Never more than so many tasks are submitted ahead."""
    flying: list[int] = []
    most = 0

    def submit(task: int) -> int:
        nonlocal most
        flying.append(task)
        most = max(most, len(flying))
        return task

    def fetch(task: int) -> int:
        flying.remove(task)
        return task

    assert list(in_order(submit, fetch, range(20), 4)) == list(range(20))
    assert most == 4

"""One conformance suite for every engine; the clusters are real local ones."""

import os
import signal
import socket
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from memaudit.kernel.errors import InvalidPackage, MemAuditError, Problem
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.solve import usual_threads
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace import engines
from memaudit.workspace.engines import ENGINES, Engine, in_order, named_engine
from memaudit.workspace.run_folder import ROWS


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


def reads(task: int) -> Package:
    """A package whose file is wrong in two ways."""
    problems = [Problem(f"is wrong {task}", file="p.json", line=n) for n in (1, 2)]
    raise InvalidPackage(problems, "p.json")


def problems_from(engine: Engine) -> None:
    """An invalid package is reported with all its problems."""
    with pytest.raises(InvalidPackage) as found:
        list(engine.map(reads, [7]))
    assert str(found.value) == "p.json:1: is wrong 7 (and 1 more)"
    assert (found.value.source, len(found.value.problems)) == ("p.json", 2)


class Heavy:
    """A function that counts how often it is loaded, as files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Path]) -> None:
        self.folder = state["folder"]
        (self.folder / uuid.uuid4().hex).touch()

    def __call__(self, task: int) -> int:
        """How many threads a solve would use."""
        return usual_threads() * task


def travels_once(engine: Engine, folder: Path) -> None:
    """The function is sent to a worker, not to a task; a solve in a worker has one thread."""
    folder.mkdir()
    tasks = range(24)
    assert list(engine.map(Heavy(folder), tasks)) == list(tasks) or engine.name == "serial"
    assert len(list(folder.iterdir())) <= 4


def unreadable() -> Iterator[int]:
    yield from range(3)
    raise MemAuditError("line 4 is not JSON")


def errors_in_tasks_from(engine: Engine) -> None:
    """Results of the tasks before the error come first."""
    seen: list[int] = []
    with pytest.raises(MemAuditError, match="line 4"):
        seen.extend(engine.map(abs, unreadable()))
    assert seen == [0, 1, 2]


def everything_from(engine: Engine, folder: Path) -> None:
    in_order_from(engine)
    errors_from(engine)
    problems_from(engine)
    errors_in_tasks_from(engine)
    travels_once(engine, folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_results_and_errors(name: str, tmp_path: Path) -> None:
    if name == "dask":
        pytest.importorskip("distributed")
    engine = named_engine(name, 2)
    assert engine.name == name
    everything_from(engine, tmp_path / "loads")


def test_few_tasks_stay_here() -> None:
    """Up to so many; also before an error in the tasks."""
    here = os.getpid()
    engine = named_engine("processes", 2, few=3)
    assert {pid for _, pid in engine.map(slow_square, [(n, 0) for n in range(3)])} == {here}
    errors_in_tasks_from(engine)


@pytest.mark.slow
def test_many_tasks_do_not() -> None:
    in_order_from(named_engine("processes", 2, few=3))


def dies(task: int) -> int:
    if task == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


@pytest.mark.slow
def test_a_killed_worker_is_one_line() -> None:
    with pytest.raises(MemAuditError, match="a worker process was killed"):
        list(named_engine("processes", 2).map(dies, range(4)))
    in_order_from(named_engine("processes", 2))


SPEC = RunSpec(("base",), tuple(range(6)), ("2", "8"), ("gvt", "recency_raw"))


@pytest.mark.slow
def test_a_sweep_on_a_local_cluster(tmp_path: Path) -> None:
    """Two workers write the same bytes as one process."""
    pytest.importorskip("distributed")
    run(SPEC, tmp_path / "here", named_engine("serial"))
    run(SPEC, tmp_path / "there", named_engine("dask", 2))
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
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
def test_a_cluster_at_an_address(dask_address: str, tmp_path: Path) -> None:
    """It is used and left running."""
    everything_from(named_engine("dask", address=dask_address), tmp_path / "loads")
    run(SPEC, tmp_path / "here", named_engine("serial"))
    for folder in ("one", "two"):
        run(SPEC, tmp_path / folder, named_engine("dask", address=dask_address))
        assert (tmp_path / folder / ROWS).read_bytes() == (tmp_path / "here" / ROWS).read_bytes()


@pytest.mark.slow
def test_no_cluster_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "PATIENCE", 2)
    with pytest.raises(MemAuditError, match="no Dask scheduler answers"):
        list(named_engine("dask", address=f"tcp://127.0.0.1:{free_port()}").map(fails, [0]))


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("abacus",), "unknown engine 'abacus'"),
        (("processes", 0), "jobs must be at least 1"),
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

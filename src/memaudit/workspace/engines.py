"""Ways of running tasks side by side. Results come back in the order of the tasks."""

import gc
import os
import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain, islice
from typing import Any, Protocol, TypeVar

from memaudit.kernel.errors import LostWorker, MemAuditError, MissingTool, install_line
from memaudit.kernel.parent_watch import end_with_parent

Task = TypeVar("Task")
Result = TypeVar("Result")
Promise = TypeVar("Promise")


class Engine(Protocol):
    """Runs a function over tasks.

    The function and the tasks can travel to other processes, the function once to each: what all
    tasks share belongs to it.
    """

    @property
    def name(self) -> str: ...

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Results in the order of the tasks, each as soon as those before it are there."""
        ...


def in_worker(function: Callable[[Task], Result], task: Task) -> Result:
    """What a worker does: it is one of several, so a solve has one thread.

    The garbage collector runs between tasks. During one it would find little, again and again.
    """
    gc.disable()
    try:
        return function(task)
    finally:
        gc.enable()


def in_order(
    submit: Callable[[Task], Promise],
    fetch: Callable[[Promise], Result],
    tasks: Iterable[Task],
    width: int,
) -> Iterator[Result]:
    """Submit ahead by at most `width` tasks; fetch in the order of submission.

    If there is an error in the tasks, the results of those before it come first.
    """
    submitted: deque[Promise] = deque()
    waiting, error = iter(tasks), None
    while True:
        try:
            task = next(waiting)
        except StopIteration:
            break
        except MemAuditError as wrong:
            error = wrong
            break
        submitted.append(submit(task))
        if len(submitted) >= width:
            yield fetch(submitted.popleft())
    while submitted:
        yield fetch(submitted.popleft())
    if error is not None:
        raise error


ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
"""The environment of a process that is one of several."""


class Serial:
    """No parallelism: for small runs and for debugging."""

    name = "serial"

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        yield from map(function, tasks)


class Processes:
    """One process per core unless another number is given.

    For `few` tasks or less, starting processes is not worth it: they run in this one.
    """

    name = "processes"

    def __init__(self, jobs: int | None = None, few: int = 0) -> None:
        self.jobs, self.few = jobs or len(os.sched_getaffinity(0)), few

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        waiting = iter(tasks)
        first: list[Task] = []
        try:
            first.extend(islice(waiting, self.few + 1))
        except MemAuditError:  # those before it are in the list
            yield from map(function, first)
            raise
        many = len(first) > self.few
        run = self._in_processes if many else map
        yield from run(function, chain(first, waiting))

    def _in_processes(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Iterator[Result]:
        from joblib.externals.loky import get_reusable_executor  # slow, and looks at the machine

        with tempfile.NamedTemporaryFile(prefix="memaudit-") as file:
            pickle.dump(function, file)
            file.flush()
            workers = get_reusable_executor(
                self.jobs, env=ONE_THREAD, initializer=_start, initargs=(os.getpid(),)
            )
            # Workers outlive a call: relative paths are those of this process, now.
            submit: Callable[[Task], Future[Result]] = partial(
                workers.submit, _call, file.name, os.getcwd()
            )
            finished = False
            try:
                yield from in_order(submit, Future.result, tasks, 2 * self.jobs)
                finished = True
            except BrokenProcessPool:
                raise LostWorker(
                    "a worker process was killed, perhaps because memory ran out; try fewer jobs"
                ) from None
            finally:
                if not finished:
                    workers.shutdown(kill_workers=True)


_last_file = ""
"""Where a worker has its function from."""


def _start(parent: int) -> None:
    end_with_parent(parent, _remove_last_file)


def _remove_last_file() -> None:
    with suppress(OSError):  # another worker did it, or there is none
        os.unlink(_last_file)


def _call(path: str, folder: str, task: Any) -> Any:
    global _last_file
    _last_file = path
    os.chdir(folder)
    return in_worker(_function(path), task)


@lru_cache(maxsize=1)
def _function(path: str) -> Any:
    """The function of a file, loaded once; the garbage collector need not walk through it again."""
    gc.disable()
    with open(path, "rb") as file:
        function = pickle.load(file)
    gc.freeze()
    gc.enable()
    return function


PATIENCE = 10
"""Seconds a scheduler has to answer."""


class DaskCluster:
    """Tasks as futures of a distributed client. Workers need this version of memaudit installed."""

    name = "dask"

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        self.jobs, self.address = jobs, address

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise MissingTool(f"engine dask needs distributed: {install_line('dask')}") from None
        if self.address is not None:
            try:
                client = Client(self.address, timeout=PATIENCE)
            except (OSError, ValueError) as error:
                raise MemAuditError(
                    f"no Dask scheduler answers at {self.address} ({type(error).__name__}); "
                    "check the address, for example tcp://host:8786"
                ) from None
            with client:
                yield from self._through(client, function, tasks)
            return
        with (
            LocalCluster(n_workers=self.jobs, threads_per_worker=1, dashboard_address=None) as own,
            Client(own) as client,
        ):
            yield from self._through(client, function, tasks)

    @staticmethod
    def _through(
        client: Any, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Iterator[Result]:
        width = 2 * max(1, sum(client.nthreads().values()))

        shared = client.scatter(function, broadcast=True, hash=False)

        def submit(task: Task) -> Any:
            return client.submit(in_worker, shared, task, pure=False)

        def fetch(promise: Any) -> Result:
            result: Result = promise.result()
            promise.release()
            return result

        yield from in_order(submit, fetch, tasks, width)


ENGINES = ("processes", "serial", "dask")


def named_engine(
    name: str, jobs: int | None = None, address: str | None = None, few: int = 0
) -> Engine:
    """The engine of that name; only a cluster has an address. Processes leave out `few` tasks."""
    if jobs is not None and jobs < 1:
        raise MemAuditError("jobs must be at least 1")
    if name not in ENGINES:
        raise MemAuditError(f"unknown engine {name!r}; known engines: {', '.join(ENGINES)}")
    if name == "dask":
        return DaskCluster(jobs, address)
    if address is not None:
        raise MemAuditError(f"engine {name!r} takes no address; use dask")
    return Serial() if name == "serial" else Processes(jobs, few)

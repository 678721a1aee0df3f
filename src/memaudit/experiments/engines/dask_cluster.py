"""A Dask cluster: the one at an address, or a local one."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from memaudit.core.errors import MemAuditError, MissingTool, install_line
from memaudit.experiments.engines.protocol import Result, Task, in_order, in_worker

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
            raise MissingTool(f"--engine dask needs distributed: {install_line('dask')}") from None
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

"""A Ray cluster: the one at an address, or a local one."""

import socket
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from memaudit.core.errors import MemAuditError, MissingTool, install_line
from memaudit.experiments.engines.protocol import Result, Task, in_order, in_worker


class RayCluster:
    """Tasks as remote calls. Workers need this version of memaudit installed."""

    name = "ray"

    def __init__(self, jobs: int | None = None, address: str | None = None) -> None:
        self.jobs, self.address = jobs, address

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        try:
            import ray
        except ImportError:
            raise MissingTool(f"--engine ray needs ray: {install_line('ray')}") from None
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.address is not None:
            options["address"] = self.address
        else:
            options |= {"num_cpus": self.jobs, "include_dashboard": False}
        try:
            _probe(self.address)
            ray.init(**options)
        except (OSError, ValueError, RuntimeError) as error:
            raise MemAuditError(
                f"cannot reach a Ray cluster at {self.address} ({type(error).__name__}); "
                "check the address, for example host:6379"
            ) from None
        try:
            # In a list, or every call would load the function again.
            remote, shared = ray.remote(_call), [ray.put(function)]
            width = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))

            def submit(task: Task) -> Any:
                return remote.remote(shared, task)

            def fetch(promise: Any) -> Result:
                try:
                    result: Result = ray.get(promise)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                return result

            yield from in_order(submit, fetch, tasks, width)
        finally:
            ray.shutdown()


def _call(shared: list[Any], task: Task) -> Any:
    return in_worker(_function(*shared), task)


@lru_cache(maxsize=1)
def _function(shared: Any) -> Any:
    import ray

    return ray.get(shared)


def _probe(address: str | None) -> None:
    """Fail at once where nobody listens; Ray itself would wait for minutes."""
    host, colon, port = (address or "").rpartition(":")
    if colon and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=10).close()

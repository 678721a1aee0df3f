"""Every engine by name."""

from memaudit.core.errors import MemAuditError
from memaudit.experiments.engines.dask_cluster import DaskCluster
from memaudit.experiments.engines.local import Engine, Processes, Serial
from memaudit.experiments.engines.ray_cluster import RayCluster

ENGINES = ("processes", "serial", "dask", "ray")


def named_engine(name: str, jobs: int | None = None, address: str | None = None) -> Engine:
    """The engine of that name; only clusters have an address."""
    if jobs is not None and jobs < 1:
        raise MemAuditError(f"--jobs {jobs} makes no sense; use 1 or more")
    if name == "dask":
        return DaskCluster(jobs, address)
    if name == "ray":
        return RayCluster(jobs, address)
    if address is not None:
        raise MemAuditError(f"engine {name!r} takes no address; use --engine dask or ray")
    if name == "serial":
        return Serial()
    if name == "processes":
        return Processes(jobs)
    raise MemAuditError(f"unknown engine {name!r}; known engines: {', '.join(ENGINES)}")

"""Every engine by name."""

from memaudit.core.errors import MemAuditError
from memaudit.experiments.engines.dask_cluster import DaskCluster
from memaudit.experiments.engines.local import Processes, Serial
from memaudit.experiments.engines.protocol import Engine
from memaudit.experiments.engines.ray_cluster import RayCluster

CLUSTERS: dict[str, type[DaskCluster | RayCluster]] = {"dask": DaskCluster, "ray": RayCluster}
ENGINES = ("processes", "serial", *CLUSTERS)


def named_engine(
    name: str, jobs: int | None = None, address: str | None = None, few: int = 0
) -> Engine:
    """The engine of that name; only clusters have an address. Processes leave out `few` tasks."""
    if jobs is not None and jobs < 1:
        raise MemAuditError("--jobs must be at least 1")
    if name not in ENGINES:
        raise MemAuditError(f"unknown engine {name!r}; known engines: {', '.join(ENGINES)}")
    if name in CLUSTERS:
        return CLUSTERS[name](jobs, address)
    if address is not None:
        raise MemAuditError(f"engine {name!r} takes no address; use --engine dask or ray")
    return Serial() if name == "serial" else Processes(jobs, few)

"""Exact, certified evaluation of what a long-term memory system wrote.

Names are loaded when they are first used, so `import memaudit` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memaudit.api import (
        build,
        compare,
        frontier,
        import_store,
        labels,
        lint,
        picture,
        score,
        solve,
        texts,
        value,
        verify,
    )
    from memaudit.kernel.errors import InvalidPackage, MemAuditError
    from memaudit.kernel.io.packages import read_package, read_packages, write_package
    from memaudit.kernel.io.store_file import ExportedStore
    from memaudit.kernel.package.digest import digest
    from memaudit.kernel.package.optimum import Certificate, Optimum
    from memaudit.kernel.package.package import (
        Candidate,
        Coverage,
        EvidenceUnit,
        Experience,
        Package,
        Query,
    )
    from memaudit.kernel.score.result import ScoreResult, StoreScore
    from memaudit.kernel.solvers.frontier import Frontier
    from memaudit.kernel.solvers.solve import solve_all
    from memaudit.lab.api import diagnose, run

    __version__: str

_HOME = {
    "Candidate": "memaudit.kernel.package.package",
    "Certificate": "memaudit.kernel.package.optimum",
    "Coverage": "memaudit.kernel.package.package",
    "EvidenceUnit": "memaudit.kernel.package.package",
    "Experience": "memaudit.kernel.package.package",
    "ExportedStore": "memaudit.kernel.io.store_file",
    "Frontier": "memaudit.kernel.solvers.frontier",
    "InvalidPackage": "memaudit.kernel.errors",
    "MemAuditError": "memaudit.kernel.errors",
    "Optimum": "memaudit.kernel.package.optimum",
    "Package": "memaudit.kernel.package.package",
    "Query": "memaudit.kernel.package.package",
    "ScoreResult": "memaudit.kernel.score.result",
    "StoreScore": "memaudit.kernel.score.result",
    "build": "memaudit.api",
    "compare": "memaudit.api",
    "digest": "memaudit.kernel.package.digest",
    "frontier": "memaudit.api",
    "import_store": "memaudit.api",
    "labels": "memaudit.api",
    "lint": "memaudit.api",
    "picture": "memaudit.api",
    "read_package": "memaudit.kernel.io.packages",
    "read_packages": "memaudit.kernel.io.packages",
    "score": "memaudit.api",
    "solve": "memaudit.api",
    "solve_all": "memaudit.kernel.solvers.solve",
    "texts": "memaudit.api",
    "value": "memaudit.api",
    "verify": "memaudit.api",
    "write_package": "memaudit.kernel.io.packages",
}
"""Every public name and the module it lives in."""

_LAB = ("diagnose", "run")
"""Names that the laboratory offers, by entry points of the group `memaudit.api`."""

__all__ = [
    "Candidate",
    "Certificate",
    "Coverage",
    "EvidenceUnit",
    "Experience",
    "ExportedStore",
    "Frontier",
    "InvalidPackage",
    "MemAuditError",
    "Optimum",
    "Package",
    "Query",
    "ScoreResult",
    "StoreScore",
    "__version__",
    "build",
    "compare",
    "diagnose",
    "digest",
    "frontier",
    "import_store",
    "labels",
    "lint",
    "picture",
    "read_package",
    "read_packages",
    "run",
    "score",
    "solve",
    "solve_all",
    "texts",
    "value",
    "verify",
    "write_package",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = import_module("memaudit.kernel.version").VERSION
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _LAB:
        value = _offered(name)
    else:
        raise AttributeError(f"module 'memaudit' has no attribute {name!r}")
    globals()[name] = value
    return value


def _offered(name: str) -> Any:
    from importlib.metadata import entry_points

    from memaudit.kernel.errors import MemAuditError

    for point in entry_points(group="memaudit.api", name=name):
        try:
            return point.load()
        except ModuleNotFoundError as error:
            raise MemAuditError(
                f"memaudit.{name} needs {error.name}, which comes with the extra lab: "
                "pip install '.[lab]' in the checkout"
            ) from None
    raise MemAuditError(f"memaudit.{name} is not installed: no package offers it")


def __dir__() -> list[str]:
    return sorted(__all__)

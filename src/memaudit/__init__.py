"""Exact, certified evaluation of what a long-term memory system wrote.

Names are loaded when they are first used, so `import memaudit` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memaudit.adapters.store import ExportedStore
    from memaudit.api import (
        build,
        compare,
        diagnose,
        frontier,
        import_store,
        labels,
        lint,
        picture,
        run,
        score,
        solve,
        texts,
        value,
        verify,
    )
    from memaudit.core.digest import digest
    from memaudit.core.errors import InvalidPackage, MemAuditError
    from memaudit.core.optimum import Certificate, Optimum
    from memaudit.core.package import Candidate, Coverage, EvidenceUnit, Experience, Package, Query
    from memaudit.io.packages import read_package, read_packages, write_package
    from memaudit.scoring.result import ScoreResult, StoreScore
    from memaudit.solvers.frontier import Frontier
    from memaudit.solvers.solve import solve_all

    __version__: str

_HOME = {
    "Candidate": "memaudit.core.package",
    "Certificate": "memaudit.core.optimum",
    "Coverage": "memaudit.core.package",
    "EvidenceUnit": "memaudit.core.package",
    "Experience": "memaudit.core.package",
    "ExportedStore": "memaudit.adapters.store",
    "Frontier": "memaudit.solvers.frontier",
    "InvalidPackage": "memaudit.core.errors",
    "MemAuditError": "memaudit.core.errors",
    "Optimum": "memaudit.core.optimum",
    "Package": "memaudit.core.package",
    "Query": "memaudit.core.package",
    "ScoreResult": "memaudit.scoring.result",
    "StoreScore": "memaudit.scoring.result",
    "build": "memaudit.api",
    "compare": "memaudit.api",
    "diagnose": "memaudit.api",
    "digest": "memaudit.core.digest",
    "frontier": "memaudit.api",
    "import_store": "memaudit.api",
    "labels": "memaudit.api",
    "lint": "memaudit.api",
    "picture": "memaudit.api",
    "read_package": "memaudit.io.packages",
    "read_packages": "memaudit.io.packages",
    "run": "memaudit.api",
    "score": "memaudit.api",
    "solve": "memaudit.api",
    "solve_all": "memaudit.solvers.solve",
    "texts": "memaudit.api",
    "value": "memaudit.api",
    "verify": "memaudit.api",
    "write_package": "memaudit.io.packages",
}
"""Every public name and the module it lives in."""

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
        value: Any = import_module("memaudit.core.version").VERSION
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'memaudit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

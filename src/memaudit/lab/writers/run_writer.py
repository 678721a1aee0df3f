"""Running writers on a package and holding them to the rules.

A writer sees the visible part of the package unless it declares that it peeks, gets a seed of its
own, and must return a feasible store within the budget. Anything else is the writer's failure.
"""

import hashlib
from fractions import Fraction
from functools import cached_property

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.objective import violations
from memaudit.kernel.package.package import Package
from memaudit.lab.writers.protocol import OracleView, Store, View, Writer, visible


class WriterRunner:
    """Runs writers on one package. What they share is computed once."""

    def __init__(self, package: Package, seconds: float | None = None) -> None:
        self.package = package
        self.oracle = OracleView(package, seconds)

    @cached_property
    def view(self) -> View:
        return visible(self.package)

    @cached_property
    def digest(self) -> str:
        return digest(self.package)

    def written_by(self, writer: Writer, budget: Fraction, seed: int) -> Store:
        """The writer's store; an infeasible one is an error that names the writer."""
        own_seed = writer_seed(seed, self.digest)
        if writer.peeks:
            store = writer.write(self.oracle, budget, own_seed)
        else:
            store = writer.write(self.view, budget, own_seed)
        if problems := violations(self.package, store, budget, self.package.group_cap):
            raise MemAuditError(f"writer {writer.name!r} broke the rules: {problems[0]}")
        return store


def writer_seed(seed: int, package_digest: str) -> int:
    """A seed that follows from the run's seed and the package's digest, and reveals neither.

    With the generator's own seed a writer could generate the package and look into it.
    """
    text = f"{seed} {package_digest}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")

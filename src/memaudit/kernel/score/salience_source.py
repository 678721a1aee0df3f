"""Scores of a store's memories at write time, as policies take them.

Every store has sources of its own. Memory ids such as `m1` mean other memories in other stores, so
scores made for one store are never looked up for another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import Package

Texts = Mapping[str, str]
"""Memories by id, in the order of writing."""


class SalienceSource(Protocol):
    """Gives scores to the memories of one store."""

    @property
    def name(self) -> str: ...

    @property
    def failed(self) -> int:
        """Calls that failed or could not be read."""
        ...

    def of(self, package: Package, store: ExportedStore, texts: Texts) -> dict[str, Fraction]:
        """The scores of the memories that have one."""
        ...


@dataclass(frozen=True, slots=True)
class Salience:
    """By store: scores given at write time, and scores given with the questions in sight.

    A store without a source has the scores that its system wrote itself. With one, a memory that
    the source does not score has no score.
    """

    at_write_time: Mapping[str, SalienceSource] = field(default_factory=dict)
    query_aware: Mapping[str, SalienceSource] = field(default_factory=dict)

    def of(self, store: str) -> dict[str, SalienceSource]:
        """The sources of one store, by the policy that goes by them."""
        given = {"salience": self.at_write_time, "query_salience": self.query_aware}
        return {policy: sources[store] for policy, sources in given.items() if store in sources}

    @property
    def names(self) -> list[list[str]]:
        """What tells one from another in settings: stores and their sources."""
        both = (self.at_write_time, self.query_aware)
        return [[store, source.name] for given in both for store, source in given.items()]


OWN_SALIENCE = Salience()

"""What an importer is: one small module a memory system, registered in adapters/registry.py."""

from dataclasses import dataclass
from typing import Protocol

from memaudit.adapters.shape import ExportedStore
from memaudit.adapters.source import Source


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may choose about an import."""

    name: str | None = None
    view: str | None = None
    """Which text of a record is taken; the adapter's first view where none is given."""
    namespace: str | None = None
    """Only memories of this user, agent, block or folder."""
    as_of: str | None = None
    """The time that expiry dates are held against, ISO; the latest time in the export if none."""
    guessed: bool = False


class Adapter(Protocol):
    """Reads the exports of one memory system into the common shape."""

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str:
        """The system, and what of it is read, in a few words."""
        ...

    @property
    def views(self) -> tuple[str, ...]:
        """The texts of a record one can choose from; the first is the default."""
        ...

    def recognises(self, source: Source) -> int:
        """How sure it is that the source is its own: 0 not at all, 3 by marks no other has.

        4 is for a format whose marks a near relative has as well.
        """
        ...

    def read(self, source: Source, options: Options) -> ExportedStore:
        """The whole store, with what was left out and why."""
        ...

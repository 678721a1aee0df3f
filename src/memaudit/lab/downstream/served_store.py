"""What a system wrote for one package, and what it kept within the budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory as retrievers and readers get it. What it covers is for those that peek."""

    id: str
    text: str
    covers: Mapping[str, Fraction]
    """Unit id to how much of the unit the memory preserves."""


@dataclass(frozen=True, slots=True)
class ServedStore:
    """Everything written, in order of writing. Retrieval can find `kept_ids` only."""

    name: str
    written: tuple[StoredMemory, ...]
    kept_ids: frozenset[str]
    kept_by: str
    """Why it fits the budget, in words."""
    undecided: frozenset[str] = frozenset()
    """Units for which a judge of coverage gave no answer on some memory."""

    @property
    def kept(self) -> tuple[StoredMemory, ...]:
        return tuple(memory for memory in self.written if memory.id in self.kept_ids)

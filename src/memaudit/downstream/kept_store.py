"""What a system wrote for one package, and what of it was kept within the budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory as retrievers and readers get it; what it covers is for those that peek."""

    id: str
    text: str
    covers: Mapping[str, Fraction]
    """Unit id to how much of it the memory preserves; units that are not there get nothing."""


@dataclass(frozen=True, slots=True)
class KeptStore:
    """Everything written, in order of writing; `kept_ids` is what retrieval can find."""

    name: str
    written: tuple[StoredMemory, ...]
    kept_ids: frozenset[str]
    kept_by: str
    """How it came to fit the budget, in words."""
    undecided: frozenset[str] = frozenset()
    """Units about which a judge of coverage gave no answer for some memory."""

    @property
    def kept(self) -> tuple[StoredMemory, ...]:
        """What is in the store, in order of writing."""
        return tuple(memory for memory in self.written if memory.id in self.kept_ids)

"""What a judge takes and gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memaudit.audits.union import Cell
from memaudit.core.package import EvidenceUnit

Cells = Mapping[str, Mapping[str, Cell]]
"""By memory id, then by unit id; what is not there is not covered."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A memory as a judge sees it: its words, and the turns it names as its sources."""

    id: str
    text: str
    sources: tuple[str, ...] = ()


class Judge(Protocol):
    """Decides coverage; the same one for every system."""

    @property
    def name(self) -> str: ...

    @property
    def is_estimate(self) -> bool:
        """Whether its word is a guess that every output must mark as one."""
        ...

    def cells(self, memories: Sequence[Judged], units: Sequence[EvidenceUnit]) -> Cells:
        """What each memory covers."""
        ...

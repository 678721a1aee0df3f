"""What a judge takes and gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit

Pair = tuple[str, str]
"""The id of a memory and the id of a unit."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How much of a unit a memory preserves, and who says so."""

    value: Fraction
    provenance: str
    rationale: str = ""


Cells = Mapping[str, Mapping[str, Cell]]
"""By memory id, then by unit id; what is not there is not covered."""


class NotJudged(MemAuditError):
    """Nobody said anything about this store and package: no score, and no zero."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A memory as a judge sees it: its words, the turns it names, and the package in question."""

    id: str
    text: str
    sources: tuple[str, ...] = ()
    example: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What memories cover; pairs that got no answer, which is no zero; labels that fit nothing."""

    cells: Cells
    undecided: tuple[Pair, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


class Judge(Protocol):
    """Decides coverage; the same one for every system."""

    @property
    def name(self) -> str: ...

    @property
    def is_estimate(self) -> bool:
        """Whether its word is a guess that every output must mark as one."""
        ...

    def judge(self, memories: Sequence[Judged], units: Sequence[EvidenceUnit]) -> Judgement:
        """What each memory of one store covers."""
        ...


ESTIMATE = "an ESTIMATE by shared words, not labels"
_BY_NAME = {
    "model": "as a model judged",
    "pointer": "by the turns that memories name as their sources",
}


def judged_how(judge: str, is_estimate: bool) -> str:
    """The remark that follows a judge's name."""
    if is_estimate:
        return ESTIMATE
    return _BY_NAME.get(judge.partition(" ")[0], "as labelled")

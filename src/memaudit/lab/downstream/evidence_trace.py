"""The chain of evidence: per unit, which memories cover it, if kept, and at what rank retrieved.

A unit is written, kept or retrieved where the coverage of the memories adds up to all of it. The
question is lost at the first stage at which a unit that supports its answer is lost: every required
one, except an old value where the current one is asked for (`current-v1`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from memaudit.lab.downstream.question import PackageQuestion, ServedStore


class EvidenceStage(StrEnum):
    """How far the evidence of a question got, in the order of loss."""

    NO_EVIDENCE = "no_evidence"
    """The package names none, though the question has an answer."""
    NOTHING_NEEDED = "nothing_needed"
    """None is named, and the right answer is to abstain."""
    NEVER_WRITTEN = "never_written"
    PRUNED = "pruned"
    NOT_RETRIEVED = "not_retrieved"
    RETRIEVED = "retrieved"


LOST = (EvidenceStage.NEVER_WRITTEN, EvidenceStage.PRUNED, EvidenceStage.NOT_RETRIEVED)


@dataclass(frozen=True, slots=True)
class EvidenceLink:
    """One memory that covers a unit."""

    memory: str
    covers: Fraction
    kept: bool
    rank: int | None
    """From 1 where it was retrieved."""


@dataclass(frozen=True, slots=True)
class UnitChain:
    """What became of one required unit: the coverage left at each stage."""

    unit: str
    needs: Fraction
    links: tuple[EvidenceLink, ...]

    @property
    def written(self) -> Fraction:
        return sum((link.covers for link in self.links), Fraction(0))

    @property
    def kept(self) -> Fraction:
        return sum((link.covers for link in self.links if link.kept), Fraction(0))

    @property
    def retrieved(self) -> Fraction:
        return sum((link.covers for link in self.links if link.rank is not None), Fraction(0))

    @property
    def stage(self) -> EvidenceStage:
        """The first stage at which less than all of it is left."""
        for stage, amount in zip(LOST, (self.written, self.kept, self.retrieved), strict=True):
            if amount < self.needs:
                return stage
        return EvidenceStage.RETRIEVED


def chains(
    question: PackageQuestion, store: ServedStore, retrieved: Sequence[str]
) -> tuple[UnitChain, ...]:
    """One chain per required unit, memories in order of writing."""
    rank = {id: place for place, id in enumerate(retrieved, start=1)}
    return tuple(
        UnitChain(
            unit,
            needs,
            tuple(
                EvidenceLink(
                    memory.id, memory.covers[unit], memory.id in store.kept_ids, rank.get(memory.id)
                )
                for memory in store.written
                if memory.covers.get(unit)
            ),
        )
        for unit, needs in question.needs.items()
    )


def stage_of(question: PackageQuestion, evidence: Sequence[UnitChain]) -> EvidenceStage:
    """The first stage at which the question lost a unit that its answer needs."""
    # Required units that an answer does not need (the old value) count for recall, not here.
    needed = [chain for chain in evidence if chain.unit in question.supports]
    if not needed:
        return EvidenceStage.NOTHING_NEEDED if question.abstention else EvidenceStage.NO_EVIDENCE
    # The enumeration is in the order of loss, so the smallest is the first stage that lost one.
    order = list(EvidenceStage)
    return min((chain.stage for chain in needed), key=order.index)

"""The replies that version 1 of the prompts asks for.

Names, docstrings and fields of reply types are part of every request's hash, which is the key of
its answer in a cache. So these never change.
"""

from typing import Literal

from pydantic import model_validator

from memaudit.models.prompt import StrictRow


class MemoryRow(StrictRow):
    """One memory of a reply."""

    turns: list[int]
    kind: Literal["fact", "preference", "event", "summary", "edge", "tombstone", "compound_update"]
    text: str


class MemoriesReply(StrictRow):
    """The reply of this pass."""

    memories: list[MemoryRow]


class UnitRow(StrictRow):
    """One unit of a reply."""

    turn: int
    quote: str
    kind: Literal[
        "fact",
        "preference",
        "event",
        "temporal",
        "current",
        "supersession",
        "deletion",
        "stale",
        "abstention",
    ]
    statement: str


class UnitsReply(StrictRow):
    """The reply of this pass."""

    units: list[UnitRow]


class RequiredRow(StrictRow):
    """A unit that the answer needs."""

    unit: int
    reason: str


class RequirementsReply(StrictRow):
    """The reply of this pass."""

    decision: Literal["supported", "unsupported", "unanswerable"]
    required: list[RequiredRow]
    reason: str

    @model_validator(mode="after")
    def _holds_together(self) -> "RequirementsReply":
        if len({row.unit for row in self.required}) < len(self.required):
            raise ValueError("a unit appears twice")
        if self.decision == "supported" and not self.required:
            raise ValueError("a supported answer requires at least one unit")
        return self


class RewriteRow(StrictRow):
    """A better statement of a unit."""

    unit: int
    statement: str


class AdjudicationReply(StrictRow):
    """The reply of this pass."""

    verdict: Literal["accepted", "corrected", "ambiguous", "rejected"]
    required: list[int]
    rewrites: list[RewriteRow]
    reason: str

    @model_validator(mode="after")
    def _holds_together(self) -> "AdjudicationReply":
        if len(set(self.required)) < len(self.required):
            raise ValueError("a required unit appears twice")
        if len({row.unit for row in self.rewrites}) < len(self.rewrites):
            raise ValueError("a unit is rewritten twice")
        if self.rewrites and self.verdict != "corrected":
            raise ValueError("only the verdict corrected comes with rewrites")
        return self


class CellRow(StrictRow):
    """One cell of a reply."""

    memory: int
    unit: int
    label: Literal["full", "partial", "none"]
    reason: str


class CoverageReply(StrictRow):
    """The reply of this pass."""

    cells: list[CellRow]

    @model_validator(mode="after")
    def _once_each(self) -> "CoverageReply":
        if len({(row.memory, row.unit) for row in self.cells}) < len(self.cells):
            raise ValueError("a pair of memory and unit appears twice")
        return self

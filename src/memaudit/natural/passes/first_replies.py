"""The replies that version 1 of the prompts asks for.

Names, docstrings and fields of reply types are part of every request's hash, which is the key of
its answer in a cache. So these never change.
"""

from typing import Literal

from pydantic import model_validator

from memaudit.models.prompt import StrictRow


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

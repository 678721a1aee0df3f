"""The files in the folder of a board: `board.json`, and `row.json` of a system."""

from typing import Annotated, Literal

from pydantic import Field

from memaudit.formats.file_model import StrictFileModel

FORMAT: Literal["memaudit-board"] = "memaudit-board"
VERSION: Literal[1] = 1


class BoardPlan(StrictFileModel):
    """What a board is about. Paths are relative to its folder."""

    format: Literal["memaudit-board"]
    version: Literal[1]
    title: str
    packages: str = Field(description="a shipped set, or a package or folder of packages")
    budgets: Annotated[list[str], Field(min_length=1)]
    times: Literal["shown", "none", "all"] = Field(
        description="times in the texts that were labelled"
    )
    labels: str = Field(description="adjudicated labels, a file in each place with labels")
    passes: list[str] = Field(default_factory=list, description="files of the blind passes")
    memories: str = Field(description="the texts that the labels are about")
    notes: list[str] = Field(default_factory=list, description="what a reader must know")


class SystemNotes(StrictFileModel):
    """What `row.json` says about a system that its stores do not."""

    name: str | None = None
    blind: bool = Field(
        default=True, description="whether the readers of its labels did not know the system"
    )
    notes: list[str] = Field(default_factory=list)


class SheetOrder(StrictFileModel):
    """What the numbers on one reader's sheet stand for."""

    conversation: str
    reader: Literal["a", "b"]
    texts: list[str] = Field(description="the memories, in the order of their numbers")
    units: list[str] = Field(description="ids of the statements, in the order of theirs")


class SheetKey(StrictFileModel):
    """`sheets.json`: which memories a folder of labelling sheets is about. Hidden from readers."""

    format: Literal["memaudit-sheets"]
    version: Literal[1]
    sheets: list[SheetOrder]

"""The files of a board: `board.json`, `row.json` of a system, and the key of labelling sheets."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.file_model import FileModel
from memaudit.kernel.io.files import is_file_name
from memaudit.kernel.package.budgets import OWN, asked_budget


def _file_name(name: str) -> str:
    if not is_file_name(name):
        raise ValueError(f"{name!r} is not the name of a file in the board's folder")
    return name


def _budget(text: str) -> str:
    try:
        budget = asked_budget(text)
    except MemAuditError as error:
        raise ValueError(str(error)) from None
    if budget.text == OWN:
        raise ValueError("a board needs budgets that are the same for all systems, not own")
    return budget.text


FileName = Annotated[str, AfterValidator(_file_name)]


class WrittenByHand(FileModel):
    """A file that people write: an unknown field is a typo."""

    model_config = ConfigDict(strict=True, extra="forbid")


class BoardPlan(WrittenByHand):
    """What a board is about. Its files of labels may stand in the folder of a system, too."""

    format: Literal["memaudit-board"]
    version: Literal[1]
    title: str
    packages: str = Field(description="a shipped set, or a package or folder of packages")
    budgets: Annotated[list[Annotated[str, AfterValidator(_budget)]], Field(min_length=1)]
    times: Literal["shown", "none", "all"] = Field(
        description="times in the texts that were labelled"
    )
    labels: FileName = Field(description="adjudicated labels")
    passes: list[FileName] = Field(default_factory=list, description="files of the blind passes")
    memories: FileName = Field(description="the texts that the labels are about")
    notes: list[str] = Field(default_factory=list, description="what a reader must know")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [self.labels, *self.passes, self.memories]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two of labels, passes and memories are {name!r}")
        for budget in self.budgets:
            if self.budgets.count(budget) > 1:
                raise ValueError(f"budget {budget} is given twice")
        return self


class SystemNotes(WrittenByHand):
    """What `row.json` says about a system. The stores of a capture say most of it themselves."""

    blind: bool | None = Field(
        default=None, description="whether the readers of its labels did not know the system"
    )
    version: str | None = None
    model: str | None = None
    embedder: str | None = None
    feed: str | None = None
    clock: str | None = None
    settings: str | None = None
    notes: list[str] = Field(default_factory=list)


class SheetOrder(WrittenByHand):
    """What the numbers on one reader's sheet stand for."""

    conversation: str
    reader: Literal["a", "b"]
    texts: list[str] = Field(description="the memories, in the order of their numbers")
    controls: list[str] = Field(description="those that have labels already, to compare with")
    units: list[str] = Field(description="ids of the statements, in the order of theirs")


class SheetKey(WrittenByHand):
    """`sheets.json`: which memories a folder of labelling sheets is about. Hidden from readers."""

    format: Literal["memaudit-sheets"]
    version: Literal[1]
    sheets: list[SheetOrder]

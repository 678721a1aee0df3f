"""The files of a board: `board.json`, `row.json` of a system, the key of labelling sheets, labels.

memories.jsonl    conversation, memory_id, text
truth.jsonl       conversation, memory_id, verdict: whether the text is true (kernel/score/truth.py)
coverage.jsonl    conversation, memory_id, unit_id, coverage: the adjudicated labels
blind_a.jsonl     the same of a blind pass; board.json names all of these files
controls.jsonl    what the readers of a system's own labels said about memories of the board
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from memaudit.judges.label_files import (
    CELL_COLUMNS,
    MEMORY_COLUMNS,
    LabelRow,
    cell_rows,
    label_rows,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_lines
from memaudit.kernel.io.file_model import FileModel, validated
from memaudit.kernel.io.files import is_file_name, read_text
from memaudit.kernel.io.foreign_json import json_lines
from memaudit.kernel.package.budgets import OWN, asked_budget
from memaudit.kernel.score.truth import TextVerdict, Truths
from memaudit.kernel.words.text import one_line


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
    truth: FileName | None = Field(
        default=None, description="which memories and candidates of the packages are false"
    )
    notes: list[str] = Field(default_factory=list, description="what a reader must know")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [self.labels, *self.passes, self.memories, *filter(None, [self.truth])]
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


LabelledTexts = Mapping[str, Mapping[str, str]]
"""By conversation, the texts that labels are about, each on one line, with their ids."""

CONTROLS = "controls.jsonl"

AGAIN = "if memaudit label sheets was interrupted while adding labels, run it again"


def memory_texts(file: Path) -> dict[str, dict[str, str]]:
    """By conversation and id, the texts in a file of memories; none where it is not there."""
    texts: dict[str, dict[str, str]] = {}
    with errors_in(file):
        for row in _memories(file) if file.is_file() else ():
            own = texts.setdefault(row.text("conversation"), {})
            own[row.text("memory_id")] = row.text("text")
    return texts


def labelled_texts(file: Path) -> dict[str, dict[str, str]]:
    """By conversation and text, the ids in a file of memories."""
    return {
        conversation: {one_line(text): id for id, text in own.items()}
        for conversation, own in memory_texts(file).items()
    }


class TruthRow(FileModel):
    """A verdict on one text. Rows may say more: what is wrong, where the conversation shows it."""

    conversation: str
    memory_id: str
    verdict: TextVerdict


def read_truths(file: Path, texts: Mapping[str, Mapping[str, str]]) -> Truths:
    """The verdicts of a file; `texts` are by conversation and id. Other conversations are passed
    over: no system was run on them. An id without a text is an error: a verdict on nothing would be
    counted as one."""
    verdicts: dict[str, dict[str, TextVerdict]] = {}
    for number, data in json_lines(file):
        row = validated(TruthRow, data, f"{file}: line {number}")
        if row.conversation not in texts:
            continue
        text = texts[row.conversation].get(row.memory_id)
        if text is None:
            raise MemAuditError(
                f"{file}: line {number}: nothing of {row.conversation!r} is called "
                f"{row.memory_id!r}; give ids of labelled memories or of candidates"
            )
        known = verdicts.setdefault(row.conversation, {}).setdefault(one_line(text), row.verdict)
        if known != row.verdict:
            raise MemAuditError(
                f"{file}: line {number}: {row.memory_id!r} has the text of a memory that is "
                f"called {known}, and is called {row.verdict}; equal texts are equally true"
            )
    return Truths(file.name, verdicts)


@dataclass(frozen=True, slots=True)
class LabelOfCell:
    """A row of a file of labels."""

    row: LabelRow
    about: tuple[str, str]
    """The conversation and the memory."""
    share: Fraction | None
    """How much of the unit it keeps; None in a row that is still to be filled in."""


def labels_of_cells(file: Path) -> Iterator[LabelOfCell]:
    """The rows of a file of labels."""
    for row in cell_rows(file, CELL_COLUMNS):
        about = row.text("conversation"), row.text("memory_id")
        yield LabelOfCell(row, about, row.share("coverage") if row.has("coverage") else None)


def has_labels(folder: Path, plan: BoardPlan) -> bool:
    """Whether a folder has labels of its own; incomplete ones are refused before scoring."""
    return _any_file(folder, (plan.labels, *plan.passes))


def _any_file(folder: Path, names: Iterable[str]) -> bool:
    return any((folder / name).is_file() for name in names)


def check_labels(folder: Path, plan: BoardPlan, may_lack_passes: bool = False) -> None:
    """Refuse labels of unknown memories, and a pass without labels of a conversation."""
    passes = [] if may_lack_passes and not _any_file(folder, plan.passes) else plan.passes
    for name in (plan.labels, *passes, plan.memories):
        if not (folder / name).is_file():
            raise MemAuditError(
                f"{folder / name}: does not exist, although other label files do; {AGAIN}"
            )
    texts: dict[tuple[str, str], str] = {}
    with errors_in(folder / plan.memories):
        for row in _memories(folder / plan.memories):
            about = row.text("conversation"), row.text("memory_id")
            if texts.setdefault(about, row.text("text")) != row.text("text"):
                raise row.wrong(f"gives {about[1]!r} of {about[0]} a second text")
    for name in (plan.labels, *passes):
        with errors_in(folder / name):
            _check_pass(folder / name, plan.memories, texts)


def _check_pass(path: Path, memories: str, texts: Mapping[tuple[str, str], str]) -> None:
    missing = {conversation for conversation, _ in texts}
    for label in labels_of_cells(path):
        conversation, memory = label.about
        if label.about not in texts:
            raise label.row.wrong(f"{memories} has no memory {memory!r} of {conversation}; {AGAIN}")
        missing.discard(conversation)
    if missing:
        raise MemAuditError(
            f"{path.name}: has no label for {min(missing)}, although {memories} has memories of "
            "it; if they keep nothing, say so with a label of 0"
        )


def replace_rows(
    path: Path, ids: Collection[tuple[object, object]], rows: Iterable[Mapping[str, object]]
) -> None:
    """Put rows into a file of labels, in place of its rows about these conversations and
    memories."""
    lines = _lines_about_others(path, ids)
    lines += [json.dumps(row, ensure_ascii=False) for row in rows]
    write_lines(path, (f"{line}\n" for line in lines))


def _lines_about_others(path: Path, ids: Collection[tuple[object, object]]) -> list[str]:
    """The lines of a file of labels that are about no memory of these, as they are."""
    if not path.exists():
        return []
    about = {at: (row.get("conversation"), row.get("memory_id")) for at, row in json_lines(path)}
    lines = read_text(path).split("\n")
    return [line for at, line in enumerate(lines, 1) if at in about and about[at] not in ids]


def _memories(file: Path) -> list[LabelRow]:
    return label_rows(file, MEMORY_COLUMNS, frozenset({"conversation", "memory_id", "text"}))


@contextmanager
def errors_in(file: Path) -> Iterator[None]:
    """Errors that begin with the name of the file say where it is."""
    try:
        yield
    except MemAuditError as error:
        if str(error).startswith(file.name):
            raise MemAuditError(f"{file.parent}/{error}") from None
        raise

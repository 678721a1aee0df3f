"""Sheets: cells as Markdown or a table, for people and language models, and their answers.

    sheet.csv   a row for each cell, with its texts and an empty label
    sheet.md    the guideline and the cells, answered by lines such as `c0001: partial`

A grid is a sheet of all memories with all statements of a conversation. It is answered memory by
memory (`17: S3, S5?`) or statement by statement (`S3: 17, 21?`), which saves most of the lines.

No cell is passed over: each needs a line, and a line that cannot be read is an error.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from memaudit.board.board_files import SheetOrder, errors_in
from memaudit.board.label_controls import READERS
from memaudit.judges.label_files import csv_text
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import read_text
from memaudit.kernel.package.labels import Label, parse_label
from memaudit.kernel.words.text import counted, one_line, shortened, visible_text
from memaudit.lab.labels.frame import FrameCell, LabelDecision

TABLE, MARKDOWN, GUIDELINE = "sheet.csv", "sheet.md", "guideline.md"
TABLE_COLUMNS = ("cell_id", "memory_id", "unit_id", "memory_text", "unit_text", "label", "notes")

BY_MEMORY = (
    "Go memory by memory. Write one line for each of the {texts} memories: its number, a colon, "
    "and the numbers of the statements that it keeps, such as `17: S3, S5?, S9`, or `17: none`. "
    "S5? means partial, S5 full. Write nothing else."
)
BY_STATEMENT = (
    "Go statement by statement. Write one line for each of the {units} statements: its number, a "
    "colon, and the numbers of the memories that keep it, such as `S3: 17, 21?`, or `S3: none`. "
    "21? means partial, 21 full. Write nothing else."
)
EACH_PAIR = (
    "Decide each pair alone. Write one line for each: its number, a colon, and full, partial or "
    "none, such as `{first}: partial`. Write nothing else."
)
OF_PARTS = (
    "Where a statement lists parts in brackets, write the names of the parts that are kept instead "
    "of partial, such as `{first}: {parts}`."
)

MARKUP = re.compile(r"^[-*+] +|\*\*|`")
"""Lists, bold and code, which language models like."""
NUMBER = re.compile(r"[A-Za-z]?[0-9]+")
EXAMPLES = {"memory": "17: S3, S5?", "statement": "S3: 17, 21?", "pair": "1: partial"}


def guideline_text(folder: Path) -> str:
    """The guideline of a folder of cells, or the one that ships."""
    own = folder / GUIDELINE
    shipped = files("memaudit.lab.labels") / GUIDELINE
    return read_text(own) if own.is_file() else shipped.read_text("utf-8")


def sheet_texts(
    cells: Sequence[FrameCell], brief: str, filled: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The table and the Markdown of cells, by file name.

    `filled` are cells that count as none unless somebody says otherwise, with the reason.
    """
    notes = filled or {}
    rows: list[tuple[str, ...]] = [
        (
            cell.id,
            cell.candidate,
            cell.unit,
            cell.candidate_text,
            cell.described,
            "none" if cell.id in notes else "",
            notes.get(cell.id, ""),
        )
        for cell in cells
    ]
    columns: tuple[str, ...] = TABLE_COLUMNS
    if any(cell.parts for cell in cells):
        columns, rows = (*columns, "parts"), [(*row, "") for row in rows]
    return {TABLE: csv_text(columns, rows), MARKDOWN: pair_sheet(cells, brief)}


def pair_sheet(cells: Sequence[FrameCell], brief: str) -> str:
    """Cells one by one, as Markdown."""
    how = EACH_PAIR.format(first=cells[0].id) if cells else ""
    # The example in the instructions is a cell of this sheet.
    with_parts = next((cell for cell in cells if cell.parts), None)
    if with_parts is not None:
        how += " " + OF_PARTS.format(first=with_parts.id, parts=", ".join(with_parts.part_names))
    parts = [brief.rstrip(), f"## What to write\n\n{how}"]
    for cell in cells:
        quote = f"\n\n    Words of the conversation: {shown(cell.quote)}" if cell.quote else ""
        parts.append(
            f"{cell.id}. Statement: {shown(cell.described)}{quote}\n\n"
            f"    Memory: {shown(cell.candidate_text)}"
        )
    return "\n\n".join(parts) + "\n"


def grid_sheet(sheet: SheetOrder, brief: str, units: Mapping[str, str]) -> str:
    """All memories and statements of a conversation, as Markdown."""
    how = BY_MEMORY if sheet.reader == READERS[0] else BY_STATEMENT
    statements = [f"S{number}. {shown(units[id])}" for number, id in enumerate(sheet.units, 1)]
    memories = [f"{number}. {shown(text)}" for number, text in enumerate(sheet.texts, 1)]
    return (
        "\n\n".join(
            [
                brief.rstrip(),
                f"## What to write\n\n{how.format(texts=len(sheet.texts), units=len(sheet.units))}",
                "## Statements",
                *statements,
                "## Memories",
                *memories,
            ]
        )
        + "\n"
    )


def grid_cells(sheet: SheetOrder, units: Mapping[str, str]) -> tuple[FrameCell, ...]:
    """The cells of a grid, by the numbers on the sheet: `17-S3`."""
    return tuple(
        FrameCell(
            id=f"{place}-S{number}",
            package=sheet.conversation,
            candidate=str(place),
            unit=f"S{number}",
            candidate_kind="memory",
            unit_kind="unit",
            same_session=None,
            candidate_text=text,
            unit_text=units[unit],
            quote="",
        )
        for place, text in enumerate(sheet.texts, 1)
        for number, unit in enumerate(sheet.units, 1)
    )


def shown(text: str) -> str:
    """A text on one line, so that it cannot pass for another."""
    return visible_text(one_line(text))


def read_grid(sheet: SheetOrder, path: Path) -> dict[str, Label]:
    """What a reader wrote about a grid, by cell; a pair that is not named is none."""
    texts = [str(number) for number in range(1, len(sheet.texts) + 1)]
    units = [f"S{number}" for number in range(1, len(sheet.units) + 1)]
    by_memory = sheet.reader == READERS[0]
    what = "memory" if by_memory else "statement"
    asked, offered = (texts, units) if by_memory else (units, texts)
    # A grid is answered by what is covered; all else is none, and `_lines` makes sure that no line
    # is missing.
    labels: dict[str, Label] = {f"{text}-{unit}": "none" for text in texts for unit in units}
    for at, left, right in _lines(path, asked, what):
        marks = [] if right.lower() == "none" else [mark.strip() for mark in right.split(",")]
        numbers = [mark.removesuffix("?").strip().upper() for mark in marks]
        wrong = [m for m, number in zip(marks, numbers, strict=True) if number not in offered]
        if wrong:
            raise MemAuditError(
                f"{path}:{at}: expected none, or numbers from {_range(offered)} with "
                f"commas between them, not {visible_text(shortened(wrong[0], 40))!r}"
            )
        if twice := next((number for number in numbers if numbers.count(number) > 1), None):
            raise MemAuditError(f"{path}:{at}: names {twice} twice")
        for mark, number in zip(marks, numbers, strict=True):
            text, unit = (left, number) if by_memory else (number, left)
            labels[f"{text}-{unit}"] = "partial" if mark.endswith("?") else "full"
    return labels


def read_pairs(path: Path, cells: Mapping[str, FrameCell]) -> Iterator[LabelDecision]:
    """What somebody wrote about cells one by one."""
    for at, id, right in _lines(path, list(cells), "pair"):
        cell, place = cells[id], f"{path.name}:{at}"
        label, kept = _label(right), None
        if label is None and cell.parts:
            kept = frozenset(name.strip() for name in right.split(","))
            if unknown := sorted(kept - set(cell.part_names)):
                raise MemAuditError(f"{path}:{at}: {id} has no part {visible_text(unknown[0])!r}")
        elif label is None:
            raise MemAuditError(f"{path}:{at}: expected full, partial or none")
        yield LabelDecision(path.stem, id, label, "", place, kept)


def _label(word: str) -> Label | None:
    try:
        return parse_label(word)
    except ValueError:
        return None


def _lines(path: Path, asked: Sequence[str], what: str) -> Iterator[tuple[int, str, str]]:
    """The lines of an answer: where, the number on the left, the rest. Each number once.

    Lines without a figure, such as a heading, say nothing.
    """
    by_name = {name.upper(): name for name in asked}
    seen: set[str] = set()
    with errors_in(path):
        lines = read_text(path).splitlines()
    for at, line in enumerate(lines, 1):
        # A list mark may stand before the number, a full stop after the line.
        text = MARKUP.sub("", line.strip()).strip().removesuffix(".")
        left, colon, right = (piece.strip() for piece in text.partition(":"))
        # Readers, language models above all, add headings and closing words.
        if left.upper() not in by_name and not re.search("[0-9]", line):
            continue
        if not (colon and right) or not (left.upper() in by_name or NUMBER.fullmatch(left)):
            raise MemAuditError(
                f"{path}:{at}: expected a line such as {EXAMPLES[what]!r}, not "
                f"{visible_text(shortened(line.strip(), 40))!r}"
            )
        if left.upper() not in by_name:
            raise MemAuditError(
                f"{path}:{at}: begins with {left.upper()!r}; expected a number from {_range(asked)}"
            )
        number = by_name[left.upper()]
        if number in seen:
            raise MemAuditError(f"{path}:{at}: {number} was answered before")
        seen.add(number)
        yield at, number, right
    if unanswered := [number for number in asked if number not in seen]:
        raise MemAuditError(
            f"{path}: {counted(len(unanswered), what)} without a line, the first is {unanswered[0]}"
        )


def _range(numbers: Sequence[str]) -> str:
    return f"{numbers[0]} to {numbers[-1]}"

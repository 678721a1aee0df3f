"""Published numbers beside ours, as a table for the terminal."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memaudit.reproduce.board import Board
    from memaudit.reproduce.scoreboard import Line


def show_lines(lines: Sequence["Line"], scope: str) -> None:
    """One row a number, and how many agree."""
    from memaudit.cli.results import console
    from memaudit.reproduce.scoreboard import AGREE

    _table(lines)
    agree = sum(line.verdict == AGREE for line in lines)
    console().print(f"{agree} of {len(lines)} published numbers agree, {scope}")


def show_board(board: "Board", remark: str) -> None:
    """What could be computed in full, what needs the archive counted by place.

    The remark is about settings that are not the paper's.
    """
    from memaudit.cli.results import console
    from memaudit.reproduce.board import NEEDS

    _table(board.computed)
    screen = console()
    missing = Counter(line.where for line in board.lines if line.verdict == NEEDS)
    places = ", ".join(f"{number} in {where}" for where, number in missing.items())
    screen.print(f"{NEEDS}: {places}")
    figures = ", ".join(one.where for one in board.figures if not one.files)
    screen.print(f"figures drawn: {sum(bool(one.files) for one in board.figures)} of "
                 f"{len(board.figures)}; {figures} need the archive")  # fmt: skip
    screen.print(f"{len(board.lines)} published numbers: {board.counted}")
    if remark:
        screen.print(remark)


def _table(lines: Sequence["Line"]) -> None:
    from rich import box
    from rich.table import Table

    from memaudit.cli.results import console

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("paper")
    table.add_column("number")
    for name in ("published", "ours"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for line in lines:
        table.add_row(line.where, line.what, line.published, line.ours, line.verdict)
    console().print(table)

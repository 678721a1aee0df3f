"""`memaudit board`: memory systems side by side, from their stores and labels."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.terminal import console, resumable, safe, safe_markup
from memaudit.core.errors import MemAuditError
from memaudit.io.overwrite import may_write

if TYPE_CHECKING:
    from rich.console import Console

    from memaudit.report.system_board import SystemBoard

EXAMPLE = 200
"""Characters of a memory that the terminal shows; the page shows all of it."""


def board(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="Folder with board.json, labels, and a folder of stores per system. Default: the "
            "board that comes with MemAudit.",
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=DIR",
            help="Add a system: a folder with CONVERSATION.json stores and their labels; may be "
            "repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare memory systems by what they wrote about the same conversations.

    Every conversation is solved with the memories of all systems in one union, by the adjudicated
    labels and by each blind pass. Intervals cover passes, runs and conversations together.
    """
    from memaudit.report.board_page import board_data, write_board_page
    from memaudit.report.system_board import system_board
    from memaudit.scoring.board_folder import read_board, shipped_board

    if out is not None:
        may_write(out, "page")
    added = [named_system(text) for text in add or ()]
    with shipped_board() as shipped:
        read = read_board(folder or shipped, added)
        with resumable("conversations", len(read.packages), None) as done:
            result = system_board(read, lambda number, _: done(number))
    if out is not None:
        write_board_page(result, out)
    if as_json:
        typer.echo(json.dumps(board_data(result), indent=1))
        return
    show_system_board(result)
    if out is not None:
        typer.echo(f"page: {safe(out)}")


def named_system(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise MemAuditError(f"--add {text}: give NAME=DIR, such as mysystem=stores/mysystem")
    return name, Path(path)


def show_system_board(board: "SystemBoard", full: bool = True) -> None:
    """Print the standings, and with `full` what each system loses and where its row comes from."""
    from rich import box
    from rich.table import Table

    from memaudit.core.number_text import fixed, ratio, short_number, span
    from memaudit.core.text import excerpt
    from memaudit.report.board_page import cut_note, finding, quality, written_sizes

    screen = console()
    screen.print(safe_markup(f"{board.title}: how much of the best possible memory did each keep?"))
    for line in filter(None, (finding(board), cut_note(board))):
        screen.print(safe_markup(line))
    for optima, standings in board.budgets:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column(safe_markup(optima.name), overflow="fold")
        for name in (
            "rank",
            "score",
            "95% interval",
            "random\ncut",
            "best\nsubset",
            "95% interval",
            "rank",
        ):
            table.add_column(name, justify="right", no_wrap=True)
        for one in standings:
            mark = " *" if board.row(one.system).marks else ""
            rank, best_rank = ("-" if at is None else str(at) for at in (one.rank, one.best_rank))
            table.add_row(
                safe_markup(one.system) + mark,
                rank,
                ratio(one.score.mean),
                span(one.score.low, one.score.high),
                fixed(one.random_cut, 2),
                ratio(one.best_subset.mean),
                span(one.best_subset.low, one.best_subset.high),
                best_rank,
            )
        screen.print(table)
    screen.print(
        "score: what the store keeps within the budget, over OPT of everything judged; "
        "random cut: the score if the store were cut at random; best subset: the best "
        "choice of its own memories"
    )
    screen.print(
        "rank: 1 plus the number of systems that are clearly ahead; two systems of "
        "different rank may still not differ clearly"
    )
    if any(row.marks for row in board.rows):
        screen.print("* marked: the reasons are below")
    written = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    written.add_column("system", overflow="fold")
    for name in ("conversations", "runs", "memories", board.measure, "whole store"):
        written.add_column(name, justify="right", no_wrap=True)
    for row in board.rows:
        written.add_row(
            safe_markup(row.system), str(row.conversations), str(row.runs), *written_sizes(row)
        )
    screen.print(written)
    screen.print(
        "whole store: what all of it is worth, over the weight of all units; all numbers are means"
    )
    for line in quality(board):
        screen.print(safe_markup(line))
    for row in board.rows if full else ():
        screen.print(f"\n{safe_markup(row.system)}: {safe_markup(row.loses)}")
        for example in row.examples:
            _indented(screen, 2, f"lost in {example.conversation}: {example.unit}")
            if example.memory is None:
                _indented(screen, 4, "it wrote nothing that says this")
            else:
                cost = f"{short_number(example.memory.cost)} {board.measure}"
                memory = excerpt(example.memory.text, example.unit, EXAMPLE)
                part = ", which says part of it" if example.in_part else ""
                _indented(screen, 4, f"its memory of {cost}{part}: {memory}")
        came = "; ".join(f"{name} {value}" for name, value in row.provenance.items())
        _indented(screen, 2, came)
        for mark in row.marks:
            _indented(screen, 2, f"* {mark}")
        for note in row.notes:
            _indented(screen, 2, f"note: {note}")
    for note in (*board.notes, *(f"left out: {line}" for line in board.left_out)):
        screen.print(safe_markup(note))
    screen.print(f"digest {board.digest}")


def _indented(screen: "Console", spaces: int, text: str) -> None:
    from rich.text import Text

    for line in Text(safe(text)).wrap(screen, screen.width - spaces):
        screen.print(Text(" " * spaces) + line)

"""`memaudit board`: stores side by side, from stores with labels or from score files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.terminal import console, print_columns, resumable, safe, safe_markup
from memaudit.kernel.errors import MemAuditError

if TYPE_CHECKING:
    from rich.console import Console

    from memaudit.board.board import Board
    from memaudit.board.board_of_systems import SystemsBasis

EXAMPLE = 200
"""Characters of a memory that the terminal shows; the page shows all of it."""


def board(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="Folder with board.json, labels, and a folder of stores per system; or with "
            "output of memaudit score --json. Default: the board that comes with MemAudit.",
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
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also print values and ratios over each denominator, of score files."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write an HTML page, or a table (.csv).",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare stores side by side: ranks, paired differences, and what each one loses.

    A board of systems solves every conversation with the memories of all systems in one union, by
    the adjudicated labels and by each blind pass. Intervals cover passes, runs and conversations
    together. Of score files the means over packages are compared.
    """
    from memaudit.board.board_folder import PLAN, read_board, shipped_board

    if out is not None:
        _check_out(out)
    added = [named_system(text) for text in add or ()]
    of_scores = folder is not None and not added and not (folder / PLAN).is_file()
    if folder is not None and of_scores:
        from memaudit.board.board_of_scores import board_of_scores
        from memaudit.kernel.score.score_files import read_scores

        result = board_of_scores(read_scores(folder))
    else:
        from memaudit.board.board_of_systems import board_of_systems

        if everything:
            raise MemAuditError("--all needs a folder of score files")
        with shipped_board() as shipped:
            read = read_board(folder or shipped, added)
            with resumable("conversations", len(read.packages), None) as done:
                result = board_of_systems(read, lambda number, _: done(number))
    if out is not None:
        _write(result, out)
    if as_json:
        from memaudit.board.board_page import board_data

        typer.echo(json.dumps(board_data(result), indent=1))
        return
    show_board(result)
    if everything:
        show_denominators(result)
    if out is not None:
        typer.echo(f"{_kind(out)}: {safe(out)}")


def named_system(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise MemAuditError(f"--add {text}: give NAME=DIR, such as mysystem=stores/mysystem")
    return name, Path(path)


def _kind(out: Path) -> str:
    return "table" if out.suffix.lower() == ".csv" else "page"


def _check_out(out: Path) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    from memaudit.workspace.overwrite import may_write

    if out.suffix.lower() in (".svg", ".png", ".pdf"):
        raise MemAuditError(f"{out}: a board is written as a page (.html) or a table (.csv)")
    may_write(out, "page" if _kind(out) == "page" else "table of a board")


def _write(board: "Board", out: Path) -> None:
    from memaudit.board.board_page import board_csv, write_board_page
    from memaudit.kernel.io.atomic import write_file

    if _kind(out) == "page":
        write_board_page(board, out)
    else:
        write_file(out, board_csv(board))


def show_board(board: "Board", full: bool = True) -> None:
    """Print the tables and what the numbers rest on; with `full` also what each system loses and
    where its row comes from."""
    from memaudit.board.board import DIFFERENCE_COLUMNS, board_columns
    from memaudit.board.board_text import finding, notes, remarks

    screen = console()
    basis = board.systems
    if basis is not None:
        screen.print(
            safe_markup(f"{board.title}: what does each say, in how many words, and is it true?")
        )
        screen.print(safe_markup(finding(board)))
        _print_systems(screen, basis)
    else:
        screen.print(safe_markup(finding(board)))
    for line in remarks(board):
        screen.print(safe_markup(line))
    print_columns(screen, board_columns(board.is_estimate), board.rows)
    if basis is not None:
        screen.print(
            "score: what the store keeps within the budget, over OPT of everything judged; "
            "random cut: the score if the store were cut at random; best subset: the best "
            "choice of its own memories"
        )
        screen.print(
            "rank: 1 plus the number of systems that are clearly ahead; two systems of "
            "different rank may still not differ clearly"
        )
        if any(row.marks for row in basis.systems):
            screen.print("* marked: the reasons are below")
    elif board.differences:
        print_columns(screen, DIFFERENCE_COLUMNS, board.differences)
    for line in notes(board):
        screen.print(safe_markup(line))
    if basis is not None:
        if full:
            _print_losses(screen, basis)
        screen.print(f"digest {basis.digest}")


def _print_systems(screen: "Console", basis: "SystemsBasis") -> None:
    from memaudit.board.board_system_rows import system_columns

    print_columns(screen, system_columns(basis.measure), basis.systems)
    screen.print(
        "complete: what the whole store says, of everything that could be said; lean: what the "
        f"same value needs, over what it spends, both in {basis.measure}; false: over all runs; "
        "the others are means"
    )


def _print_losses(screen: "Console", basis: "SystemsBasis") -> None:
    """What each system loses most, with examples, and where its row comes from."""
    from memaudit.board.excerpt import excerpt
    from memaudit.kernel.number_text import short_number

    for row in basis.systems:
        screen.print(f"\n{safe_markup(row.system)}: {safe_markup(row.loses)}")
        for example in row.examples:
            _indented(screen, 2, f"lost in {example.conversation}: {example.unit}")
            if example.memory is None:
                _indented(screen, 4, "it wrote nothing that says this")
            else:
                cost = f"{short_number(example.memory.cost)} {basis.measure}"
                memory = excerpt(example.memory.text, example.unit, EXAMPLE)
                part = ", which says part of it" if example.in_part else ""
                _indented(screen, 4, f"its memory of {cost}{part}: {memory}")
        _indented(screen, 2, "; ".join(f"{name} {value}" for name, value in row.provenance.items()))
        for mark in row.marks:
            _indented(screen, 2, f"* {mark}")
        for note in row.notes:
            _indented(screen, 2, f"note: {note}")


def _indented(screen: "Console", spaces: int, text: str) -> None:
    from rich.text import Text

    for line in Text(safe(text)).wrap(screen, screen.width - spaces):
        screen.print(Text(" " * spaces) + line)


def show_denominators(board: "Board") -> None:
    """Print what is kept in every way, over OPT of the package, the union and the common union."""
    from memaudit.board.denominators import (
        DENOMINATOR_COLUMNS,
        DENOMINATORS_NOTE,
        denominator_rows,
    )

    if board.scores is not None:
        screen = console()
        print_columns(screen, DENOMINATOR_COLUMNS, denominator_rows(board.scores))
        screen.print(f"F: mean value of what is kept. {DENOMINATORS_NOTE}")

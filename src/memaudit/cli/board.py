"""`memaudit board`: stores side by side, from stores with labels or from score files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.terminal import console, print_columns, resumable, safe, safe_markup
from memaudit.kernel.errors import MemAuditError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from memaudit.board.board import Board
    from memaudit.board.board_of_systems import SystemsBasis
    from memaudit.board.side_by_side import SideRow

EXAMPLE = 200
"""Characters of a memory that the terminal shows; the page shows all of it."""

PICTURES = (".svg", ".png", ".pdf")


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
    writers: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="A run of memaudit run --packages on the packages of the score files: its "
            "writers beside the stores.",
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
            help="Also write an HTML page, a table (.csv), or a picture of writers and stores "
            "across budgets (.svg, .png, .pdf).",
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

        if writers is not None or everything or _is_picture(out):
            raise MemAuditError("--all, --writers and pictures need a folder of score files")
        with shipped_board() as shipped:
            read = read_board(folder or shipped, added)
            with resumable("conversations", len(read.packages), None) as done:
                result = board_of_systems(read, lambda number, _: done(number))
    beside = _beside(result, writers) if writers is not None or _is_picture(out) else []
    if out is not None:
        _write(result, beside, out)
    if as_json:
        from memaudit.board.board_page import board_data

        typer.echo(json.dumps(board_data(result), indent=1))
        return
    show_board(result)
    if everything:
        show_denominators(result)
    if writers is not None:
        show_beside(beside)
    if out is not None:
        typer.echo(f"{_kind(out)}: {safe(out)}")


def named_system(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise MemAuditError(f"--add {text}: give NAME=DIR, such as mysystem=stores/mysystem")
    return name, Path(path)


def _kind(out: Path) -> str:
    suffix = out.suffix.lower()
    return "picture" if suffix in PICTURES else "table" if suffix == ".csv" else "page"


def _is_picture(out: Path | None) -> bool:
    return out is not None and _kind(out) == "picture"


def _check_out(out: Path) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    from memaudit.kernel.io.overwrite import may_write

    match _kind(out):
        case "page":
            may_write(out, "page")
        case "table":
            may_write(out, "table of a board")
        case _:
            from memaudit.lab.figures.style import check_image

            check_image(out)


def _write(board: "Board", beside: "Sequence[SideRow]", out: Path) -> None:
    from memaudit.board.board_page import board_csv, write_board_page
    from memaudit.kernel.io.atomic import write_file

    match _kind(out):
        case "page":
            write_board_page(board, out)
        case "table":
            write_file(out, board_csv(board))
        case _:
            from memaudit.lab.figures.style import image_of, write_image
            from memaudit.lab.figures.systems import systems

            form = out.suffix.lower().removeprefix(".")
            write_image(image_of(systems(beside), form), out)


def show_board(board: "Board", full: bool = True) -> None:
    """Print the tables and what the numbers rest on; with `full` also what each system loses and
    where its row comes from."""
    from memaudit.board.board import DIFFERENCE_COLUMNS, board_columns
    from memaudit.board.board_text import finding, notes, remarks

    screen = console()
    basis = board.systems
    if basis is not None:
        screen.print(
            safe_markup(f"{board.title}: how much of the best possible memory did each keep?")
        )
    for line in filter(None, (finding(board), *remarks(board))):
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
        _print_systems(screen, basis)
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
        "whole store: what all of it is worth, over the weight of all units; all numbers are means"
    )


def _print_losses(screen: "Console", basis: "SystemsBasis") -> None:
    """What each system loses most, with examples, and where its row comes from."""
    from memaudit.kernel.number_text import short_number
    from memaudit.kernel.words.text import excerpt

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
    from memaudit.kernel.score.denominators import (
        DENOMINATOR_COLUMNS,
        DENOMINATORS_NOTE,
        denominator_rows,
    )

    if board.scores is not None:
        screen = console()
        print_columns(screen, DENOMINATOR_COLUMNS, denominator_rows(board.scores))
        screen.print(f"F: mean value of what is kept. {DENOMINATORS_NOTE}")


def _beside(board: "Board", writers: Path | None) -> "list[SideRow]":
    """Rows of stores, and of the writers of a run on the same packages."""
    from memaudit.board.side_by_side import refuse_other_packages, store_rows, writer_rows
    from memaudit.kernel.score.denominators import denominator_rows, denominators_data

    assert board.scores is not None  # systems have been refused
    rows = store_rows(denominators_data(denominator_rows(board.scores)))
    if writers is None:
        return rows
    from memaudit.kernel.io.journal import read_journal
    from memaudit.kernel.io.run_folder import ROWS
    from memaudit.lab.runs.summary import summarise

    packages = {row["package"] for row in read_journal(writers / ROWS)}
    refuse_other_packages(packages, board.packages)
    return [*writer_rows(summarise(writers)), *rows]


def show_beside(rows: "Sequence[SideRow]") -> None:
    """Print writers and stores across budgets."""
    from memaudit.board.side_by_side import beside_columns, by_line

    screen = console()
    print_columns(screen, beside_columns(rows), by_line(rows))
    screen.print("a writer and a store have other denominators: never rank them together")

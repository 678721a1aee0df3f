"""`memaudit leaderboard`: scored stores of many packages, as a table and a page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import may_write
from memaudit.cli.terminal import safe, safe_markup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from memaudit.report.leaderboard import Board
    from memaudit.report.leaderboard_page import Column

LARGEST_WIDTH = 10_000
"""Wider than any table, so that its natural width can be measured."""


def leaderboard(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder with output of memaudit score --json, one file per package."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare scored stores by means over packages, with paired differences."""
    from memaudit.report.leaderboard import board
    from memaudit.report.leaderboard_entries import read_scores
    from memaudit.report.leaderboard_page import leaderboard_data, write_page

    if out is not None:
        may_write(out, "page")
    standings = board(read_scores(folder))
    if out is not None:
        write_page(standings, out)
    if as_json:
        typer.echo(json.dumps(leaderboard_data(standings), indent=1))
        return
    show_board(standings)
    if out is not None:
        typer.echo(f"page: {safe(out)}")


def show_board(board: "Board") -> None:
    """Print the standings, the paired differences and the notes."""
    from memaudit.cli.terminal import console
    from memaudit.core.text import counted
    from memaudit.formats.score_file import LOSS_STEPS
    from memaudit.report.leaderboard_page import columns, coverage_note, notes

    screen = console()
    screen.print(safe_markup(board.verdict))
    packages = counted(len(board.entries.packages), "package")
    screen.print(f"{packages}; {safe_markup(coverage_note(board))}")
    shown = [column for column in columns(board.entries.is_estimate) if column.short]
    table = _standings(board, shown)
    wide = screen.options.update(max_width=LARGEST_WIDTH)
    if screen.measure(table, options=wide).maximum <= screen.width:
        screen.print(table)
    else:  # the losses do not fit beside the rest
        screen.print(_standings(board, [c for c in shown if c.heading not in LOSS_STEPS]))
        screen.print(_standings(board, [c for c in shown if c.heading in LOSS_STEPS]))
    if board.gaps:
        screen.print(_gaps(board))
    for note in notes(board):
        screen.print(safe_markup(note))


def _standings(board: "Board", shown: "Sequence[Column]") -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("budget", justify="right")
    table.add_column("store", overflow="fold")
    for column in shown:
        table.add_column(column.short or "", justify="right", no_wrap=True)
    for budget, standings in board.budgets:
        for row in standings:
            store = safe_markup(row.store) + (" *" if row.incomplete else "")
            table.add_row(budget, store, *(column.in_terminal(row) for column in shown))
    return table


def _gaps(board: "Board") -> "Table":
    from rich import box
    from rich.table import Table

    from memaudit.core.number_text import fixed, signed, span

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("budget", justify="right")
    table.add_column("first", overflow="fold")
    table.add_column("second", overflow="fold")
    for name in ("difference", "95% interval", "p (Holm)", "n"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for gap in board.gaps:
        table.add_row(
            gap.budget, safe_markup(gap.first), safe_markup(gap.second),
            signed(gap.difference.mean), span(gap.difference.low, gap.difference.high),
            fixed(gap.p_holm, 4), str(gap.difference.n), gap.verdict,
        )  # fmt: skip
    return table

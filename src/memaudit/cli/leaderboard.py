"""`memaudit leaderboard`: scored stores of many packages, as a table and a page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import may_write
from memaudit.cli.terminal import safe, safe_markup

if TYPE_CHECKING:
    from rich.table import Table

    from memaudit.report.leaderboard import Board


def leaderboard(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Files of memaudit score --json, one a package.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write one HTML page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare scored stores: means over packages, intervals, paired differences."""
    from memaudit.report.leaderboard import board
    from memaudit.report.leaderboard_entries import read_scores
    from memaudit.report.leaderboard_page import leaderboard_data, write_page

    if out is not None:
        may_write(out, "page")
    found = board(read_scores(folder))
    if out is not None:
        write_page(found, out)
    if as_json:
        typer.echo(json.dumps(leaderboard_data(found), indent=1))
        return
    show_board(found)
    if out is not None:
        typer.echo(f"page: {safe(out)}")


def show_board(board: "Board") -> None:
    """Standings, differences, and what every form of a leaderboard has to say."""
    from memaudit.cli.terminal import console
    from memaudit.core.text import counted
    from memaudit.report.leaderboard_page import coverage_note, notes

    screen = console()
    packages = counted(len(board.entries.packages), "package")
    screen.print(f"{packages}; {safe_markup(coverage_note(board))}")
    screen.print(_standings(board))
    if board.gaps:
        screen.print(_gaps(board))
    for note in notes(board):
        screen.print(safe_markup(note))


def _standings(board: "Board") -> "Table":
    from rich import box
    from rich.table import Table

    from memaudit.core.number_text import percent, ratio, short_exact, span
    from memaudit.formats.score_file import LOSS_STEPS

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("budget", justify="right")
    table.add_column("store", overflow="fold")
    kept = "kept\n(est.)" if board.entries.is_estimate else "kept"
    losses = [f"loses\n{name if len(name) < 7 else f'{name[:6]}.'}" for name in LOSS_STEPS]
    for name in (kept, "95% interval", "upper", *losses, "n", "undef.", "absent"):
        table.add_column(name, justify="right", no_wrap=True)
    for budget, rows in board.budgets:
        for one in rows:
            shares = one.shares
            lost = [percent(shares[name] if shares else None, 1) for name in LOSS_STEPS]
            store = safe_markup(one.store) + (" *" if one.incomplete else "")
            table.add_row(
                short_exact(budget), store, ratio(one.kept.mean), span(one.kept.low, one.kept.high),
                ratio(one.upper.mean), *lost, str(one.kept.n),
                str(sum(one.undefined.values())), str(one.missing),
            )  # fmt: skip
    return table


def _gaps(board: "Board") -> "Table":
    from rich import box
    from rich.table import Table

    from memaudit.core.number_text import fixed, short_exact, signed, span

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("budget", justify="right")
    table.add_column("first", overflow="fold")
    table.add_column("second", overflow="fold")
    for name in ("difference", "95% interval", "p (Holm)", "n"):
        table.add_column(name, justify="right")
    table.add_column("in words")
    for gap in board.gaps:
        table.add_row(
            short_exact(gap.budget), safe_markup(gap.first), safe_markup(gap.second),
            signed(gap.found.mean), span(gap.found.low, gap.found.high), fixed(gap.p_holm, 4),
            str(gap.found.n), gap.verdict,
        )  # fmt: skip
    return table

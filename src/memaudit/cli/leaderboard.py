"""`memaudit leaderboard`: scored stores of many packages, as a table and a page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.terminal import safe, safe_markup
from memaudit.io.overwrite import may_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from memaudit.report.leaderboard import Board
    from memaudit.report.leaderboard_page import Column
    from memaudit.report.side_by_side import SideRow

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
    writers: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="A run of memaudit run --packages on the same packages: its writers beside the "
            "stores.",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw writers and stores across budgets, as svg, png or pdf."
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Also print values and ratios over each denominator."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare scored stores by means over packages, with paired differences."""
    from memaudit.report.leaderboard import board
    from memaudit.report.leaderboard_page import leaderboard_data, write_page
    from memaudit.scoring.score_files import read_scores

    if out is not None:
        may_write(out, "page")
    if picture is not None:
        from memaudit.report.figures.style import check_image

        check_image(picture)
    standings = board(read_scores(folder))
    beside = _beside(standings, writers) if writers is not None or picture is not None else []
    if picture is not None:
        from memaudit.report.figures.style import image_of, write_image
        from memaudit.report.figures.systems import systems

        drawn = image_of(systems(beside), picture.suffix.lower().removeprefix("."))
        write_image(drawn, picture)
    if out is not None:
        write_page(standings, out)
    if as_json:
        typer.echo(json.dumps(leaderboard_data(standings), indent=1))
        return
    show_board(standings)
    if everything:
        show_denominators(standings)
    if writers is not None:
        show_beside(beside)
    if picture is not None:
        typer.echo(f"picture: {safe(picture)}")
    if out is not None:
        typer.echo(f"page: {safe(out)}")


def show_board(board: "Board") -> None:
    """Print the standings, the paired differences and the notes."""
    from memaudit.cli.terminal import console
    from memaudit.core.losses import LOSS_STEPS
    from memaudit.core.text import counted
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


def show_denominators(board: "Board") -> None:
    """Print what is kept in every way, over OPT of the package, the union and the common union."""
    from rich import box
    from rich.table import Table

    from memaudit.cli.terminal import console
    from memaudit.core.number_text import with_interval
    from memaudit.scoring.denominators import DENOMINATORS_NOTE, NUMBERS, denominator_rows

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("budget", "store", "kept by", "F", "/ package", "/ union", "/ common union"):
        words = name in ("store", "kept by")
        table.add_column(
            name, justify="left" if words else "right", overflow="fold", no_wrap=not words
        )
    for row in denominator_rows(board.entries):
        means = [getattr(row, name) for name in NUMBERS]
        table.add_row(
            row.budget,
            safe_markup(row.store),
            row.kept_by,
            *(
                with_interval(mean.mean, mean.low, mean.high).replace("[", r"\[") if mean.n else "-"
                for mean in means
            ),
        )
    screen = console()
    screen.print(table)
    screen.print(f"F: mean value of what is kept. {DENOMINATORS_NOTE}")


def _beside(board: "Board", writers: Path | None) -> "list[SideRow]":
    """Rows of stores, and of the writers of a run on the same packages."""
    from memaudit.report.side_by_side import refuse_other_packages, store_rows, writer_rows
    from memaudit.scoring.denominators import denominator_rows, denominators_data

    rows = store_rows(denominators_data(denominator_rows(board.entries)))
    if writers is None:
        return rows
    from memaudit.experiments.summary import summarise
    from memaudit.io.journal import read_journal
    from memaudit.io.run_folder import ROWS

    packages = {row["package"] for row in read_journal(writers / ROWS)}
    refuse_other_packages(packages, board.entries.packages)
    return [*writer_rows(summarise(writers)), *rows]


def show_beside(rows: "Sequence[SideRow]") -> None:
    """Print writers and stores across budgets."""
    from rich import box
    from rich.table import Table

    from memaudit.cli.terminal import console
    from memaudit.core.number_text import with_interval
    from memaudit.report.side_by_side import budgets_of

    budgets = budgets_of(rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("writer or store", "kept by", "over OPT of"):
        table.add_column(name, overflow="fold")
    for budget in budgets:
        table.add_column(budget, justify="right", no_wrap=True)
    at = {(row.name, row.kept_by, row.budget): row for row in rows}
    for name, label, kept_by, is_store in dict.fromkeys(
        (row.name, row.label, row.kept_by, row.is_store) for row in rows
    ):
        cells = [at.get((name, kept_by, budget)) for budget in budgets]
        table.add_row(
            safe_markup(label),
            kept_by,
            "package + store" if is_store else "package",
            *(
                "-"
                if row is None
                else with_interval(row.mean, row.low, row.high).replace("[", r"\[")
                for row in cells
            ),
        )
    screen = console()
    screen.print(table)
    screen.print("a writer and a store have other denominators: never rank them together")


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
            gap.budget,
            safe_markup(gap.first),
            safe_markup(gap.second),
            signed(gap.difference.mean),
            span(gap.difference.low, gap.difference.high),
            fixed(gap.p_holm, 4),
            str(gap.difference.n),
            gap.verdict,
        )
    return table

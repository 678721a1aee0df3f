"""`memaudit study beside`: writers of a run and scored stores across budgets, in one table."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import console, print_columns, safe


def beside(
    scores: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder with output of memaudit score --json.")
    ],
    run: Annotated[
        Path | None,
        typer.Option(
            "--writers",
            metavar="RUN",
            help="A run of memaudit run --packages on the same packages. Default: stores alone.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw them, as .svg, .png or .pdf."),
    ] = None,
) -> None:
    """Show writers of a run and scored stores across budgets, side by side.

    A writer's ratio is over OPT of the package, a store's over OPT of the package with this store:
    they are shown together and never ranked together.
    """
    from memaudit.board.board_of_scores import board_of_scores
    from memaudit.board.denominators import denominator_rows, denominators_data
    from memaudit.kernel.score.score_files import read_scores
    from memaudit.lab.figures.side_by_side import (
        beside_columns,
        by_line,
        refuse_other_packages,
        store_rows,
        writer_rows,
    )
    from memaudit.lab.figures.style import check_image, image_of, write_image
    from memaudit.lab.figures.systems import systems
    from memaudit.lab.runs.summary import summarise
    from memaudit.workspace.journal import read_journal
    from memaudit.workspace.run_folder import ROWS

    if out is not None:
        check_image(out)
    read = read_scores(scores)
    rows = store_rows(denominators_data(denominator_rows(read)))
    if run is not None:
        packages = {row["package"] for row in read_journal(run / ROWS)}
        refuse_other_packages(packages, board_of_scores(read).packages)
        rows = [*writer_rows(summarise(run)), *rows]
    screen = console()
    print_columns(screen, beside_columns(rows), by_line(rows))
    screen.print("a writer and a store have other denominators: never rank them together")
    if out is not None:
        write_image(image_of(systems(rows), out.suffix.lower().removeprefix(".")), out)
        typer.echo(f"picture: {safe(out)}")

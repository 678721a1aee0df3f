"""`memaudit report`: the HTML page of a run."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.text import safe


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder memaudit run wrote.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: report.html in that folder.")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also draw the figures there: PNG, SVG and PDF."),
    ] = None,
) -> None:
    """Write a run's report: one HTML file that opens without a network."""
    from memaudit.report.page import write_report

    path = out or folder / "report.html"
    write_report(folder, path)
    typer.echo(f"report: {safe(path)}")
    if figures is not None:
        from memaudit.report.figures import draw_all

        drawn = draw_all([folder], figures)
        typer.echo(f"{len(drawn.files)} figure files in {safe(figures)}")
        for one in drawn.skipped:
            typer.echo(f"no {one.figure} of {safe(one.run)}: {safe(one.reason)}")

"""`memaudit report`: the HTML page of a run, or of a diagnosis."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.kernel.errors import MemAuditError
from memaudit.workspace.overwrite import may_write


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A folder written by memaudit run, diagnose or transfer."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The page to write. Default: report.html in DIR."),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also draw the figures into this folder, as PNG, SVG and PDF."
        ),
    ] = None,
    diagnose: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="A diagnosis to add to the report of a run; may be repeated."
        ),
    ] = None,
) -> None:
    """Write the report of a run or a diagnosis as one HTML file that works offline."""
    from memaudit.lab.downstream.downstream_folder import is_downstream

    path = out or folder / "report.html"
    may_write(path, "page")
    downstream = is_downstream(folder)
    if downstream:
        from memaudit.lab.downstream.downstream_page import write_downstream

        if diagnose:
            raise MemAuditError(
                f"--diagnose needs a folder written by memaudit run, which {folder} is not"
            )
        write_downstream(folder, path)
    else:
        from memaudit.lab.downstream.downstream_page import open_view
        from memaudit.lab.runs.report.page import write_report

        write_report(folder, path, [open_view(diagnosis) for diagnosis in diagnose or ()])
    typer.echo(f"report: {safe(path)}")
    if figures is not None:
        from memaudit.lab.figures.registry import draw_all, draw_downstream

        drawn = draw_downstream(folder, figures) if downstream else draw_all([folder], figures)
        typer.echo(f"{len(drawn.files)} figure files in {safe(figures)}")
        for figure in drawn.skipped:
            typer.echo(f"skipped {figure.figure} of {safe(figure.run)}: {safe(figure.reason)}")

"""`memaudit reproduce verify`: a reproduction checked hash by hash, and a sample made again."""

import json
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.text import safe


def reproduce_verify(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What memaudit reproduce all wrote.")
    ],
    sample: Annotated[
        int, typer.Option(metavar="N", min=0, help="Rows to compute again, chosen at random.")
    ] = 100,
    seed: Annotated[int, typer.Option(metavar="S", help="Which rows are chosen.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check every hash, digest and document, and compute a sample of rows again.

    Exit code 1 if anything differs, with one line for each problem.
    """
    from memaudit.experiments.artifact.verify import verify_all

    report = verify_all(folder, sample, seed)
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=1))
    else:
        for problem in report.problems:
            typer.echo(f"DIFFERS  {safe(problem)}")
        for note in report.notes:
            typer.echo(safe(note))
        typer.echo(report.verdict)
    if report.problems:
        raise typer.Exit(FAILED)

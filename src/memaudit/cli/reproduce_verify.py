"""`memaudit reproduce verify`: a reproduction checked hash by hash, its rows made again."""

import json
import secrets
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.reproduce_figures import draw_figures
from memaudit.cli.text import safe

SEEDS = 1 << 32


def reproduce_verify(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What memaudit reproduce all wrote.")
    ],
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Compute N rows again, one of every mean at least, not all."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="S", help="Which rows are chosen; default: a new one, printed."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; default: one per core.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check every hash, digest and document, and compute rows and figures again.

    All rows are computed again unless --sample says otherwise; of the solver audit only some by
    brute force, which the seed chooses. Exit code 1 if anything differs, with one line for each
    problem. Files that only another program could make again are named as not verified.
    """
    from memaudit.experiments.engines.registry import named_engine
    from memaudit.reproduce.verify.verify import Effort, verify_all

    chosen = secrets.randbelow(SEEDS) if seed is None else seed
    engine = named_engine("serial" if jobs == 1 else "processes", jobs)
    report = verify_all(folder, Effort(sample, chosen, engine, draw_figures))
    if as_json:
        typer.echo(json.dumps({**report.to_json(), "seed": chosen}, indent=1))
    else:
        for problem in report.problems:
            typer.echo(f"DIFFERS  {safe(problem)}")
        for name, why in report.unverified.items():
            typer.echo(f"not verified: {safe(name)}: {safe(why)}")
        for note in report.notes:
            typer.echo(safe(note))
        typer.echo(report.verdict)
    if report.problems:
        raise typer.Exit(FAILED)

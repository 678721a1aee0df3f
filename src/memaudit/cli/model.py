"""`memaudit model`: export, import and count the replies of models."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import safe
from memaudit.workspace.overwrite import may_write

model = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Export, import and count the replies of models.",
)

MOST_PROBLEMS = 20
"""Problems that are printed; the others are counted."""


@model.command()
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The JSONL file to write.")],
) -> None:
    """Write all replies as JSONL, to replay a run elsewhere.

    Failed attempts are included.
    """
    from memaudit.models.cache import Cache, export_cache

    may_write(file, "cache export")
    with Cache(in_force().model.cache, must_exist=True) as opened:
        counts = export_cache(opened, file)
    typer.echo(
        safe(f"wrote {counts['answers']:,} answers and {counts['attempts']:,} attempts to {file}")
    )


@model.command("import")
def import_replies(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file written by model export.")],
) -> None:
    """Import replies from JSONL, and check every key."""
    from memaudit.models.cache import Cache, import_cache

    with Cache(in_force().model.cache) as opened:
        result = import_cache(opened, file)
    for name in ("answers", "attempts", "known", "refused"):
        typer.echo(f"{result.counts[name]:>9,}  {name}")
    for problem in result.problems[:MOST_PROBLEMS]:
        typer.echo(safe(problem), err=True)
    if len(result.problems) > MOST_PROBLEMS:
        typer.echo(f"... and {len(result.problems) - MOST_PROBLEMS:,} more", err=True)
    if result.problems:
        raise typer.Exit(FAILED)


@model.command()
def show() -> None:
    """Count the replies in a cache, by model and template."""
    from memaudit.models.cache import Cache

    with Cache(in_force().model.cache, must_exist=True) as opened:
        for line in opened.contents():
            typer.echo(safe(line))

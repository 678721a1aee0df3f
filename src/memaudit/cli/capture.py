"""`memaudit capture`: run a real memory system on packages and save what it wrote."""

import math
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted
from memaudit.io.overwrite import may_write


def capture(
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM",
            help="The memory system: mem0, amem, langmem, letta, graphiti, cognee or mcp-memory.",
        ),
    ],
    package: Annotated[
        list[Path], typer.Option(metavar="PATH", help="A package to feed; may be repeated.")
    ],
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="Base URL of an OpenAI-compatible server.")
    ],
    model: Annotated[str, typer.Option(metavar="NAME", help="The model the system uses.")],
    out: Annotated[Path, typer.Option(metavar="STORE", help="The store file to write.")],
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Embedding model on the same server. Default: the system's."
        ),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Python interpreter with the system installed. Default: this one."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="WORDS",
            min=1,
            help="Tell the system how many words its memory may have, by its instructions or block "
            "limits. Default: it is told nothing.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the system; may be repeated."
        ),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(metavar="VIEW", help="The text to take from a record, as in memaudit import."),
    ] = None,
    patience: Annotated[
        float, typer.Option(metavar="S", help="Stop if a message takes more than S seconds.")
    ] = 900,
) -> None:
    """Feed the experiences of packages to a memory system and save its store."""
    from memaudit.adapters.capture.capture import capture as run
    from memaudit.adapters.capture.systems import CaptureSettings, named_system, parse_options
    from memaudit.io.packages import read_packages

    if not (math.isfinite(patience) and patience > 0):
        raise MemAuditError(f"--patience must be above 0 seconds, not {patience:g}")
    chosen = named_system(system)
    given = parse_options(set_ or [])
    if budget is not None:
        given["budget"] = budget
    settings = CaptureSettings(model, base_url, embedder, given, python, view, patience)
    packages = [item for path in package for item in read_packages(path)]
    may_write(out, "store")
    outcome = run(chosen, packages, settings, out, lambda line: typer.echo(safe(line), err=True))
    store, captured = outcome.store, len(outcome.results)
    typer.echo(safe(
        f"{out}: {counted(len(store.active), 'memory')} of {counted(captured, 'package')} "
        f"({outcome.fed_now} fed now, {captured - outcome.fed_now} earlier)"
    ))  # fmt: skip
    for warning in store.warnings:
        typer.echo(f"warning: {safe(warning)}", err=True)
    if outcome.broken:
        typer.echo("incomplete; run the same command again to resume", err=True)
        raise typer.Exit(1)

"""`memaudit capture`: run a real memory system on packages and save what it wrote."""

import math
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.options import may_write
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted


def capture(
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="mem0, amem, langmem or letta.")],
    package: Annotated[
        list[Path], typer.Option(metavar="PATH", help="Packages to feed; may be repeated.")
    ],
    base_url: Annotated[str, typer.Option(metavar="URL", help="OpenAI-compatible address.")],
    model: Annotated[str, typer.Option(metavar="NAME", help="The model the system uses.")],
    out: Annotated[Path, typer.Option(metavar="STORE", help="The store file to write.")],
    embedder: Annotated[
        str | None, typer.Option(metavar="NAME", help="Embedding model at the same address.")
    ] = None,
    python: Annotated[
        str | None, typer.Option(metavar="PATH", help="Environment the system is installed in.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the system; repeatable."),
    ] = None,
    view: Annotated[
        str | None, typer.Option(help="Which text of a record is taken, as in memaudit import.")
    ] = None,
    patience: Annotated[float, typer.Option(metavar="S", help="Seconds a message may take.")] = 900,
) -> None:
    """Feed the experiences of packages, in order, to a memory system; save its store."""
    from memaudit.adapters.capture.capture import capture as run
    from memaudit.adapters.capture.systems import CaptureSettings, named_system, parse_options
    from memaudit.io.packages import read_packages

    if not (math.isfinite(patience) and patience > 0):
        raise MemAuditError(f"--patience must be above 0 seconds, not {patience:g}")
    chosen = named_system(system)
    settings = CaptureSettings(
        model, base_url, embedder, parse_options(set_ or []), python, view, patience
    )
    packages = [one for path in package for one in read_packages(path)]
    may_write(out, "store")
    outcome = run(chosen, packages, settings, out, lambda line: typer.echo(safe(line), err=True))
    store, kept = outcome.store, len(outcome.results)
    typer.echo(safe(
        f"{out}: {counted(len(store.active), 'memory')} of {counted(kept, 'package')} "
        f"({outcome.fed_now} fed now, {kept - outcome.fed_now} before)"
    ))  # fmt: skip
    for warning in store.warnings:
        typer.echo(f"warning: {safe(warning)}", err=True)
    if outcome.broken:
        typer.echo("run the same command again to feed what is missing", err=True)
        raise typer.Exit(1)

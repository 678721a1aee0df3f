"""`memaudit bundle`: the explorer's pages as a static folder."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.text import safe


def bundle(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders with runs, packages, stores, proofs."),
    ],
    out: Annotated[Path, typer.Option(metavar="SITE", help="The folder to write.")],
    seconds: Annotated[
        float,
        typer.Option(metavar="S", help="Time to find the optima of one package along the budget."),
    ] = 5.0,
) -> None:
    """Write everything in some folders as pages that any web host, or none, can show."""
    from memaudit.cli.results import progress
    from memaudit.core.errors import MemAuditError
    from memaudit.scoring.gate import checked_seconds
    from memaudit.web.explorer.bundle import refuse_foreign, write_bundle
    from memaudit.web.explorer.library.library import Library

    checked_seconds(seconds)
    refuse_foreign(out)
    library = Library(folders)
    if not library.items and not library.unreadable:
        raise MemAuditError(
            f"{', '.join(map(str, folders))} holds nothing of ours, no page was written; give "
            "folders with runs, packages, stores, scores, frames, diagnoses or certificates"
        )
    with progress("things", len(library.items)) as done:
        written = write_bundle(library, out, seconds, lambda begun, _: done(begun))
    typer.echo(safe(f"{written.pages:,} pages, {written.bytes / 1e6:.1f} MB: {library.contents}"))
    if library.unreadable:
        typer.echo(safe(f"{len(library.unreadable)} unreadable, listed on the first page"))
    typer.echo(safe(f"open {out / 'index.html'}"))

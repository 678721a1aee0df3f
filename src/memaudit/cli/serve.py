"""`memaudit serve`: look through runs, packages and proofs in a browser on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.text import safe


def serve(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders with runs, packages, stores, proofs."),
    ],
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, open no browser.")
    ] = False,
) -> None:
    """Show everything in some folders as linked pages, on this machine only, until Ctrl-C."""
    from memaudit.solvers.protocol import STOP
    from memaudit.web.explorer.app import explorer_app
    from memaudit.web.explorer.library.library import Library
    from memaudit.web.explorer.site import Site
    from memaudit.web.explorer.templating import SERVED
    from memaudit.web.serving import serve as serve_app

    library = Library(folders)
    library.read_ahead()
    skipped = f", {len(library.unreadable)} unreadable" if library.unreadable else ""

    if not library.items:
        given = ", ".join(map(str, folders))
        typer.echo(safe(f"{given} holds nothing of ours yet; what comes is listed"), err=True)

    def announce(address: str) -> None:
        typer.echo(safe(f"{library.contents}{skipped}; Ctrl-C ends"))
        typer.echo(address)

    serve_app(explorer_app(Site(library)), port, announce, not no_browser, SERVED, STOP.set)

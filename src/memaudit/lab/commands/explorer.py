"""`memaudit serve`: the explorer in a browser, or as static files."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.settings import in_force
from memaudit.cli.terminal import safe

SECONDS = 10.0
"""For the optima of a package and the stores of writers, unless the settings say otherwise."""

MOST_SHOWN = 60
"""Characters of a text beside a progress bar."""


def serve(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR", help="Folders with runs, packages, stores, certificates."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="SITE",
            help="Write the pages to this folder as a static site, and start no server.",
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Port on 127.0.0.1; 0 chooses a free port."
        ),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address; do not open a browser.")
    ] = False,
) -> None:
    """Browse the contents of folders as linked pages, on this machine only.

    Press Ctrl-C to stop. With --out, the same pages are written as a static site, to host anywhere
    or to open from disk. It then computes for solver.seconds per package, or 10 if that is not set.
    """
    if out is None:
        _serve(folders, port, not no_browser)
    else:
        _write_site(folders, out)


def _serve(folders: list[Path], port: int, browser: bool) -> None:
    from memaudit.kernel.solvers.solve import STOP
    from memaudit.lab.explorer.app import explorer_app
    from memaudit.lab.explorer.library.library import Library
    from memaudit.lab.explorer.site import SERVED, Site
    from memaudit.lab.serving import serve as serve_app

    library = Library(folders)
    skipped = f", {len(library.unreadable)} unreadable" if library.unreadable else ""

    if not library.items:
        given = ", ".join(map(str, folders))
        typer.echo(safe(f"{given}: no MemAudit files yet; new files will be listed"), err=True)

    def announce(address: str) -> None:
        typer.echo(safe(f"{library.contents}{skipped}; press Ctrl-C to stop"))
        typer.echo(address)

    serve_app(explorer_app(Site(library)), port, announce, browser, SERVED, STOP.set)


def _write_site(folders: list[Path], out: Path) -> None:
    from memaudit.cli.terminal import progress, safe_markup
    from memaudit.kernel.errors import MemAuditError
    from memaudit.lab.explorer.bundle import refuse_foreign_files, write_bundle
    from memaudit.lab.explorer.library.library import Library

    refuse_foreign_files(out)
    library = Library(folders)
    if not library.items and not library.unreadable:
        raise MemAuditError(
            f"{', '.join(map(str, folders))}: no MemAudit files, so no page was written; give "
            "folders with runs, packages, stores, scores, diagnoses or certificates"
        )
    with progress("entries", 0, long=True) as advance:
        written = write_bundle(
            library,
            out,
            in_force().solver.seconds or SECONDS,
            lambda done, entries, text: advance(done, safe_markup(text[:MOST_SHOWN]), entries),
        )
    typer.echo(safe(f"{written.pages:,} pages, {written.bytes / 1e6:.1f} MB: {library.contents}"))
    if library.unreadable:
        typer.echo(safe(f"{len(library.unreadable)} unreadable, listed on the first page"))
    typer.echo(safe(f"open {out / 'index.html'}"))

"""`memaudit card`: describe a folder of packages or scores for people and for machines."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe


def card(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A folder of packages, a build, or a folder of scores."),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write. Default: DIR-card.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Its title. Default: the folder's name.")
    ] = None,
    licence: Annotated[
        str, typer.Option(metavar="TEXT", help="Its licence, as a name or an address.")
    ] = "not stated",
) -> None:
    """Write a card, Croissant metadata and provenance for a folder.

    They say what there is, how it was made, what it rests on, and every hash.
    """
    from memaudit.cli.reproduce import publication_day
    from memaudit.io.files import beside
    from memaudit.reproduce.data_card import write_data_card

    target = out or beside(folder, "-card")
    made = write_data_card(
        folder, target, title or folder.resolve().name, licence, publication_day()
    )
    typer.echo(safe(f"{made.about}: {', '.join(sorted(made.texts))} in {target}"))

"""`memaudit reproduce all`: every table and figure that can be computed here, in one folder."""

import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.reproduce_figures import draw_figures
from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError

EPOCH = "SOURCE_DATE_EPOCH"
"""What build tools set so that the same source gives the same bytes: seconds since 1970."""


def reproduce_all(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where everything goes; a killed run goes on there.")
    ] = Path("out/reproduction"),
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Seeds; the paper's numbers need all 500.")
    ] = 500,
    rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Rows of the solver audit; the paper has 1,200.")
    ] = 1200,
    packages: Annotated[
        int, typer.Option(metavar="N", min=1, help="Packages of the own natural set; it has 26.")
    ] = 26,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes; default: one per core.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compute every table and figure that needs no archive; no model and no network is used.

    One scoreboard says of each published number whether ours agrees, differs, or needs the
    published archive. A manifest holds every hash; `memaudit reproduce verify` checks it.
    """
    from memaudit.cli.reproduce_board import show_board
    from memaudit.cli.sweeping import swept
    from memaudit.experiments.engines.registry import named_engine
    from memaudit.reproduce.reproduce import Tools
    from memaudit.reproduce.reproduce import reproduce_all as make_all
    from memaudit.reproduce.scoreboard import DIFFER
    from memaudit.reproduce.settings import Settings

    engine = named_engine("serial" if jobs == 1 else "processes", jobs)
    tools = Tools(partial(swept, engine=engine), engine, draw_figures, _told)
    settings = Settings(seeds, rows, packages)
    board = make_all(out, settings, tools, day())
    if as_json:
        typer.echo(board.text(), nl=False)
    else:
        show_board(board, settings.remark)
        typer.echo(f"everything is in {safe(out)}; memaudit reproduce verify {safe(out)} checks it")
    if board.counts[DIFFER]:
        raise typer.Exit(FAILED)


def _told(part: str, making: bool) -> None:
    typer.echo(f"{part}: {'computing' if making else 'done before, its files are whole'}", err=True)


def day() -> str:
    """The day that goes into the metadata: today, or what SOURCE_DATE_EPOCH says."""
    given = os.environ.get(EPOCH)
    if given is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.fromtimestamp(int(given), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise MemAuditError(f"{EPOCH}={given!r} is no number of seconds; unset it") from None

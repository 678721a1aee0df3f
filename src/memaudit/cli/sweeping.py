"""Runs a sweep with a progress bar, and says what happened to it."""

from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from memaudit.cli.terminal import safe
from memaudit.experiments.engines.local import Engine
from memaudit.experiments.spec import RunSpec


def swept(spec: RunSpec, folder: Path, engine: Engine) -> dict[str, Any]:
    """The summary of a finished run; Ctrl-C keeps what is there and says how to go on."""
    from memaudit.experiments.summary import summarise
    from memaudit.experiments.sweep import run

    with bar() as shown:
        task = shown.add_task("rows", total=spec.rows)
        first: list[int] = []

        def progress(rows: int) -> None:
            first.append(rows)
            shown.update(task, completed=rows)

        try:
            outcome = run(spec, folder, engine, progress)
        except KeyboardInterrupt:
            typer.echo(
                f"stopped with {first[-1] if first else 0} of {spec.rows} rows in {safe(folder)}; "
                "run the same command again to go on",
                err=True,
            )
            raise
    if outcome.found:
        typer.echo(f"{outcome.found} of {outcome.rows} rows were there from before", err=True)
    if outcome.cut:
        typer.echo(f"{outcome.cut} bytes of damaged rows were cut off and made again", err=True)
    return summarise(folder)


def bar() -> Progress:
    """Rows done, rows per second and time left, on standard error."""
    screen = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )


class _Rate(ProgressColumn):
    """Steps per second."""

    def render(self, task: Task) -> Text:
        """The rate, once there is one."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")

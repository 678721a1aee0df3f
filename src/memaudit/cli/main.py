"""The `memaudit` command."""

from typing import Annotated

import typer

from memaudit.cli.lazy import LazyGroup

app = typer.Typer(
    name="memaudit",
    cls=LazyGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"memaudit {version('memaudit')}")
        raise typer.Exit


@app.callback()
def memaudit(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Exact, certified evaluation of what a long-term memory system wrote."""


def main() -> None:
    """Entry point of the console script."""
    app()


if __name__ == "__main__":
    main()

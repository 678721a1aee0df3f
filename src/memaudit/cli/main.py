"""The `memaudit` command: every subcommand, imported only when it runs."""

import gc
import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from memaudit.cli import assignments
from memaudit.cli.commands import HEADINGS, Command
from memaudit.cli.errors import end_tidily, explained, reported
from memaudit.kernel.io.entry_points import Registered
from memaudit.kernel.version import VERSION

FIRST_STEPS = """\
memaudit demo                              a ranking, a certificate, a report
memaudit import EXPORT --out STORE         read what your system wrote
memaudit score PACKAGE STORE --budget 100  score it against the optimum
"""

COMMANDS: Registered[Command] = Registered("memaudit.commands")


def load(name: str) -> Any:
    """Import a command: a function, or a Typer app of its own."""
    module, _, attribute = COMMANDS[name].target.partition(":")
    target = getattr(importlib.import_module(module), attribute)
    if isinstance(target, typer.Typer):
        return typer.main.get_command(target)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, help=None)(target)
    return typer.main.get_command(app)


class LazyGroup(TyperGroup):
    """Lists commands under their headings; imports a command when it is called."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("First steps"):
            for line in FIRST_STEPS.splitlines():
                formatter.write(f"  {line}\n")
        width = max(map(len, COMMANDS))
        for heading in dict.fromkeys((*HEADINGS, *(item.heading for item in COMMANDS.values()))):
            own = [command for command in COMMANDS.values() if command.heading == heading]
            with formatter.section(heading):
                formatter.write_dl([(command.name.ljust(width), command.line) for command in own])

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """A placeholder that has only the help line, so that nothing is imported."""
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name].line, rich_markup_mode=None)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name and command else command, rest

    def make_context(self, info_name: Any, args: list[str], *more: Any, **extra: Any) -> Any:
        with explained(), reported():
            args = assignments.take(args)
            if assignments.taken:
                from memaudit.cli.settings import check_assignments

                check_assignments()
            return super().make_context(info_name, args, *more, **extra)

    def invoke(self, ctx: Any) -> Any:
        with explained(), reported():
            return super().invoke(ctx)


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
        typer.echo(f"memaudit {VERSION}")
        raise typer.Exit


@app.callback()
def memaudit(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    assigned: Annotated[
        list[str] | None,
        typer.Option(
            assignments.SET,
            metavar="SECTION.KEY=VALUE",
            help="A setting for this run, also behind a command; may be repeated. Others are in "
            "memaudit.toml and the environment: see memaudit doctor.",
        ),
    ] = None,
) -> None:
    """Exact, certified evaluation of what a long-term memory system wrote."""


def main() -> None:
    # Commands build large tables of small objects, which the collector would walk through in vain.
    gc.set_threshold(100_000, 20, 100)
    end_tidily()
    app()


if __name__ == "__main__":
    main()

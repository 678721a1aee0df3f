"""The command reference: the `--help` of every command, with nothing written by hand."""

from collections.abc import Iterator
from typing import Any

from typer.core import TyperGroup
from typer.testing import CliRunner

from memaudit.cli.main import COMMANDS, app, load

HEAD = """# Commands

Every command with its options, as `--help` prints them. This page is generated when the
site is built.

"""


def paths() -> Iterator[tuple[str, ...]]:
    """Every command and every command of a group, in the order of `memaudit --help`."""
    for name in COMMANDS:
        yield from _below((name,), load(name))


def _below(path: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from _below((*path, name), inner)


def help_text(path: tuple[str, ...]) -> str:
    """What `memaudit PATH --help` prints on a terminal of 80 columns."""
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, [*path, "--help"], prog_name="memaudit")
    if result.exit_code:
        raise RuntimeError(f"memaudit {' '.join(path)} --help: {result.output}")
    return result.stdout


def command_page() -> str:
    """The page in Markdown."""
    parts = [HEAD, _listing(()), *(_section(path) for path in paths())]
    return "\n".join(parts)


def _section(path: tuple[str, ...]) -> str:
    level = "#" * (1 + len(path))
    return f"{level} `memaudit {' '.join(path)}`\n\n{_listing(path)}"


def _listing(path: tuple[str, ...]) -> str:
    return f"```text\n{help_text(path).strip()}\n```\n"

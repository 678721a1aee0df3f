"""Failures as short lines on stderr and an exit code; never a traceback for a user's mistake."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import typer

from memaudit.cli.assignments import UsageError
from memaudit.kernel.errors import InvalidPackage, MemAuditError, ParameterError
from memaudit.kernel.words.text import visible_text

FAILED = 1
SIGNALLED = 128
"""Added to the number of the signal that ended a command, as shells do."""


LAB = ("bm25s", "matplotlib", "starlette", "uvicorn")
"""Libraries of the extra `lab`."""

HEAD, TAIL = 600, 300
"""Characters kept at the start and the end of a long line."""


def shortened(line: str) -> str:
    """Cut the middle out of a line that quotes a long input."""
    if len(line) <= HEAD + TAIL:
        return line
    return f"{line[:HEAD]} [... {len(line) - HEAD - TAIL:,} characters ...] {line[-TAIL:]}"


def report(error: MemAuditError) -> None:
    """Print one line, or one line per problem of an invalid package."""
    if isinstance(error, InvalidPackage) and len(error.problems) > 1:
        count = len(error.problems)
        typer.echo(
            f"invalid package {shortened(visible_text(error.source))}: {count} problems", err=True
        )
        for problem in error.problems:
            typer.echo(f"  {shortened(visible_text(problem))}", err=True)
    else:
        text = error.naming(option_of) if isinstance(error, ParameterError) else str(error)
        typer.echo(f"error: {shortened(visible_text(text))}", err=True)


def option_of(parameter: str) -> str:
    """How a parameter of the library is given on the command line."""
    from memaudit.cli.settings import keys

    if parameter == "format":
        return "FORMAT before the path"
    renamed = {"budgets": "budget", "label_memories": "memories"}
    name = renamed.get(parameter, parameter)
    setting = next((key for key in keys() if key.partition(".")[2] == name), None)
    return f"--{name.replace('_', '-')}" if setting is None else f"--set {setting}"


@contextmanager
def explained() -> Iterator[None]:
    """Turn wrong arguments into one line that names the help of the command."""
    try:
        yield
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise  # a group without a command shows its help
        message = " ".join(str(error.format_message()).split()).rstrip(".")
        message += _as_setting(error)
        command = error.ctx.command_path if error.ctx else "memaudit"
        typer.echo(shortened(visible_text(f"error: {message}; see {command} --help")), err=True)
        raise typer.Exit(FAILED) from None


OTHER_NAMES = {"--engine": "engine.name", "--label-memories": "judge.memories"}
"""Options of earlier versions that were not called as their settings are."""


def _as_setting(error: Any) -> str:
    """How to say an option that a command does not have, if it is a setting."""
    if type(error).__name__ != "NoSuchOption":
        return ""
    from memaudit.cli.settings import keys

    options = {f"--{key.name.replace('_', '-')}": name for name, key in keys().items()}
    setting = OTHER_NAMES.get(error.option_name) or options.get(error.option_name)
    return f"; it is a setting: --set {setting}=VALUE" if setting else ""


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors that a user can cause into one line and an exit code."""
    try:
        yield
    except MemAuditError as error:
        report(error)
        raise typer.Exit(FAILED) from None
    except MemoryError:
        typer.echo("error: not enough memory for an input of this size; split it", err=True)
        raise typer.Exit(FAILED) from None
    except BrokenPipeError:  # the reader of our output has gone
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        report(MemAuditError(f"{place}{error.strerror or error}"))
        raise typer.Exit(FAILED) from None
    except ModuleNotFoundError as error:
        name = error.name or ""
        fix = f"pip install {name}"
        if name.partition(".")[0] in LAB:
            fix = "it comes with the extra lab: pip install '.[lab]' in the checkout"
        if name.partition(".")[0] == "memaudit":
            fix = "this installation is damaged: install MemAudit again from its checkout"
        typer.echo(f"error: this needs {name}: {fix}", err=True)
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt as stop:
        with suppress(OSError):  # the terminal is gone
            typer.echo("interrupted", err=True)
        number = stop.number if isinstance(stop, Ended) else signal.SIGINT
        raise typer.Exit(SIGNALLED + number) from None


class Ended(KeyboardInterrupt):
    """The command was asked to end by a signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def end_tidily() -> None:
    """From now on SIGTERM and SIGHUP end the command as Ctrl-C does: workers and files go too.

    A signal that is ignored, as under nohup, stays ignored.
    """

    def end(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)  # the second one ends it at once
        raise Ended(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, end)

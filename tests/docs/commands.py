"""Command lines compared with the program's own options, without running anything."""

import re
import shlex
import tomllib
from typing import Any

import typer
from typer.core import TyperGroup

from memaudit.cli.assignments import take, taken
from memaudit.cli.main import COMMANDS, load
from memaudit.cli.settings import check_assignments, keys
from tests.docs.blocks import ROOT

PROGRAM = "memaudit"
USAGE: Any = typer.BadParameter.__mro__[1]
"""What typer raises for a wrong command line; it exports the class's children only."""
PLACEHOLDER = re.compile(r"^[\[(]*(-{1,2}[A-Za-z][\w-]*)")


def lines_of(text: str) -> list[str]:
    """Command lines with those they go on in, joined."""
    return [line for line in re.sub(r"\\\n\s*", " ", text).splitlines() if line.strip()]


def resolved(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words name, group by group, and what is left of them."""
    name, rest = words[0], words[1:]
    assert name in COMMANDS, f"there is no command {name!r}"
    command = load(name)
    while isinstance(command, TyperGroup):
        if not rest or rest[0].startswith("-"):
            return command, rest
        assert rest[0] in command.commands, f"{name} has no command {rest[0]!r}"
        name, command, rest = rest[0], command.commands[rest[0]], rest[1:]
    return command, rest


def check_names(words: list[str]) -> None:
    """The command exists and has every option that is named; values may be placeholders."""
    words = take(words)
    for assignment in taken:
        name = assignment.partition("=")[0]
        assert name in keys(), f"there is no setting {name!r}"
    if not words or words == ["--help"] or words == ["--version"]:
        return
    command, rest = resolved(words)
    known = {one for option in command.params for one in (*option.opts, *option.secondary_opts)}
    for word in rest:
        if found := PLACEHOLDER.match(word):
            assert found[1] in known | {"--help"}, f"{words[0]} has no option {found[1]}"


def check_call(words: list[str]) -> None:
    """The command takes these very words: nothing is missing, every value is of its type."""
    command, rest = resolved(take(words))
    check_assignments()
    try:
        command.make_context(words[0], list(rest))
    except typer.Exit:  # --help
        return
    except USAGE as error:
        raise AssertionError(f"{shlex.join(words)}: {error}") from None


def synopsis(line: str) -> list[str]:
    """The words of `memaudit solve PATH --budget B     what it does`, without what it does."""
    return re.split(r"\s{2,}|\s#\s", line.strip(), maxsplit=1)[0].split()


def check_synopsis(line: str) -> None:
    """A line that names a command: ours by its options, make by its target."""
    program, *words = synopsis(line)
    if program == PROGRAM:
        check_names(words)
    elif program == "make":
        check_target(words)
    else:
        assert program == "pip", f"{line!r} is neither memaudit, make nor pip"
        check_extras(line)


def check_target(words: list[str]) -> None:
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for word in words:
        assert "=" in word or word in targets, f"the Makefile has no target {word!r}"


def check_extras(line: str) -> None:
    """Extras in `pip install '.[dask]'` or `'some.whl[dask]'` are those of the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extras in re.findall(r"(?:whl|\.)\[([\w,]+)\]", line):
        for extra in extras.split(","):
            assert extra in project["optional-dependencies"], f"there is no extra {extra!r}"

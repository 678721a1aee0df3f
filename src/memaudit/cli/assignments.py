"""The `--set` options of a command line, wherever they stand; light, for every command asks."""

from typing import Any

import typer

SET = "--set"

UsageError: Any = typer.BadParameter.__mro__[1]
"""What Typer raises for wrong arguments. Typer has no public name for it."""

taken: list[str] = []
"""Those of the command that runs, as `section.key=value`."""


def take(words: list[str]) -> list[str]:
    """Keep the `--set` options in mind; returns the words without them.

    They may stand behind any command, so they are taken out before commands read their own.
    """
    taken.clear()
    left: list[str] = []
    waiting = iter(words)
    for word in waiting:
        if word == "--":
            left += [word, *waiting]
        elif word == SET:
            value = next(waiting, None)
            if value is None:
                raise UsageError(f"Option '{SET}' requires an argument")
            taken.append(value)
        elif word.startswith(f"{SET}="):
            taken.append(word.removeprefix(f"{SET}="))
        else:
            left.append(word)
    return left

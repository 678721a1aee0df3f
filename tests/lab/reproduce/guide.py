"""The two long commands of docs/how-to/reproduce.md, as the page shows them."""

import shlex
from pathlib import Path

from tests.docs.blocks import blocks, missing_line, page_text
from tests.docs.walk import Step, steps_of

PAGE = "docs/how-to/reproduce.md"
OUT = "artifact"
"""What the page calls the folder."""


def step_of(beginning: str) -> Step:
    """The command of the page that begins so."""
    every = [
        step
        for block in blocks(PAGE, page_text(PAGE))
        if block.language == "console"
        for step in steps_of(block.text)
    ]
    (found,) = [step for step in every if step.command.startswith(f"memaudit {beginning}")]
    return found


MAKE, VERIFY = step_of("reproduce all --seeds"), step_of("reproduce verify")


def words_of(step: Step, folder: Path) -> list[str]:
    """The command for a folder of our own."""
    return [str(folder) if word == OUT else word for word in shlex.split(step.command)[1:]]


def check_shown(step: Step, printed: str, folder: Path) -> None:
    """What the page shows is printed."""
    line = missing_line(step.shown, printed.replace(str(folder), OUT))
    assert not line, f"{step.command}: {line!r} is not printed, but: {printed}"

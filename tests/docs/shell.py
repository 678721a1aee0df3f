"""The commands of a console block, run in the folder of their page."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.cli.running import run
from tests.docs.commands import PROGRAM

SECONDS = 120
PROMPT = re.compile(r"^\$ ", re.MULTILINE)
FAILURE = ("FAIL", "error:")


@dataclass(frozen=True, slots=True)
class Step:
    """A command as it is typed, and what the page shows below it."""

    command: str
    shown: str


def steps_of(text: str) -> list[Step]:
    """The commands of a block; one that ends in a backslash goes on in the next line."""
    parts = PROMPT.split(text)
    assert not parts[0].strip(), f"a console block begins with a command, not {parts[0]!r}"
    found = []
    for part in parts[1:]:
        command, _, shown = re.sub(r"\\\n\s*", " ", part).partition("\n")
        found.append(Step(command, shown))
    return found


@dataclass(slots=True)
class Shell:
    """Remembers the last exit code, as a shell does."""

    folder: Path
    code: int = 0
    answer: str | None = None
    """What is typed where a command asks."""

    def type(self, step: Step) -> str:
        """Run one command; what it prints. Redirection writes a file instead."""
        words = shlex.split(step.command)
        if words == ["echo", "$?"]:
            return f"{self.code}\n"
        target = None
        if len(words) > 2 and words[-2] == ">":
            words, target = words[:-2], words[-1]
        assert not set(words) & {"|", "&&", ";", "<", ">>"}, f"{step.command}: keep it simple"
        out, everything = self._ours(words[1:]) if words[0] == PROGRAM else self._other(words)
        if target is not None:
            (self.folder / target).write_text(out)
            return everything.replace(out, "", 1)
        return everything

    def _ours(self, words: list[str]) -> tuple[str, str]:
        result = run(*words, answer=self.answer)
        assert result.exception is None or isinstance(result.exception, SystemExit), words
        self.code = result.exit_code
        return result.stdout, result.output

    def _other(self, words: list[str]) -> tuple[str, str]:
        if words[0] == "python":
            words = [sys.executable, *words[1:]]
        if words[0] == "pytest":
            words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words[1:]]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "COLUMNS": "100"}
        done = subprocess.run(
            words, cwd=self.folder, env=environment, text=True, timeout=SECONDS,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.code = done.returncode
        return done.stdout, done.stdout


def expected_code(step: Step, following: Step | None) -> int:
    """0, or 1 where the page shows a failure; `echo $?` says it outright."""
    if following is not None and following.command == "echo $?":
        return int(following.shown)
    return 1 if step.shown.lstrip().startswith(FAILURE) else 0

"""Runs commands on hostile files in a process that is limited, watched and replaced if it dies."""

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 40.0
"""An input that takes longer hangs; usual ones take milliseconds."""

LONGEST_LINE = 1200
"""Letters of an error: a line that a person can still read."""

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str
    trace: str
    touched: list[str]


class Hostile(AssertionError):
    """A command that did something no input may make it do."""


class Box:
    """A folder with `in`, `out` and `temporary`, and the process that works in it."""

    def __init__(self, folder: Path, seconds: float = SECONDS) -> None:
        self.folder, self.seconds = folder, seconds
        self.input, self.output = folder / "in", folder / "out"
        self.temporary = folder / "temporary"
        self.ran = 0
        self._process: subprocess.Popen[str] | None = None

    def run(self, make: Callable[[Path], object], commands: Sequence[Sequence[str]]) -> list[Ended]:
        """Run commands on what `make` puts into the input folder; `{in}` and `{out}` are filled in.

        What no command may do is raised as `Hostile`.
        """
        for folder in (self.input, self.output, self.temporary):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        make(self.input)
        places = {"{in}": str(self.input), "{out}": str(self.output)}
        filled = [[_filled(word, places) for word in command] for command in commands]
        before = _beside(self.folder)
        answer = self._asked(filled)
        ended = [Ended(**one) for one in answer["commands"]]
        for command, one in zip(commands, ended, strict=True):
            problem = wrong_with(one)
            if problem:
                raise Hostile(f"{' '.join(command)}: {problem}")
        if _beside(self.folder) != before:
            raise Hostile("something was written beside the output folder")
        if left := sorted(path.name for path in self.output.rglob(".*") if path.name != ".lock"):
            raise Hostile(f"temporary files were left: {left}")
        self.ran += 1
        return ended

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _asked(self, commands: list[list[str]]) -> Any:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        job = {
            "commands": commands,
            "reads": [str(self.input)],
            "writes": [str(self.output)],
            "temporary": str(self.temporary),
        }
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self.seconds * len(commands))
        if not ready:
            self.close()
            raise Hostile(f"hangs: no end after {self.seconds:.0f} s: {commands}")
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            self._process = None
            raise Hostile(f"the process died with {code}: {commands}")
        return json.loads(line)

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.hardening.worker"],
                cwd=ROOT,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == "ready\n"
        return self._process


def wrong_with(one: Ended) -> str:
    """What is wrong with how a command ended; empty if nothing is."""
    if one.trace or "Traceback" in one.err:
        return f"a traceback:\n{_short(one.trace or one.err)}"
    if one.code not in (0, 1):
        return f"exit code {one.code}: {one.err[:500]}"
    if one.touched:
        return f"it touched {one.touched[:5]}"
    if "not enough memory" in one.err:
        return "it ran out of memory"
    lines = one.err.splitlines()
    if any(len(line) > LONGEST_LINE for line in lines):
        return f"a line of {max(map(len, lines))} letters"
    if not all(line.isprintable() for line in lines):
        return f"letters that steer a terminal: {one.err[:500]!r}"
    if one.code == 0 or one.out:  # a counted result that says no is a result
        return ""
    if not lines:
        return "it failed without a word"
    if lines[0].startswith("invalid package "):
        said = int(lines[0].rpartition(": ")[2].split()[0])
        return "" if said == len(lines) - 1 else f"{said} problems in {len(lines) - 1} lines"
    return "" if len(lines) == 1 and lines[0].startswith("error: ") else f"{one.err[:500]!r}"


def _short(trace: str) -> str:
    """The beginning and the end of a traceback: recursion makes them long."""
    lines = trace.splitlines()
    return "\n".join(lines if len(lines) < 40 else [*lines[:10], "  ...", *lines[-24:]])


def _filled(word: str, places: dict[str, str]) -> str:
    for name, place in places.items():
        word = word.replace(name, place)
    return word


def _beside(folder: Path) -> list[str]:
    """Everything around the output folder, by name and size."""
    found = []
    for place, folders, files in os.walk(folder.parent):
        if place == str(folder):
            folders[:] = [name for name in folders if name not in ("out", "temporary")]
        for name in (*files, *folders):
            path = os.path.join(place, name)
            status = os.lstat(path)
            size = status.st_size if not os.path.isdir(path) else 0
            found.append(f"{path} {size} {status.st_mode}")
    return sorted(found)

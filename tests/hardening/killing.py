"""Commands that are killed and run again, and what must hold in between and at the end."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.hardening.box import ROOT

Tree = dict[str, bytes]

ENDS, APART = 12, 20
"""Calls at the beginning and at the end that all are tried, and how far others are apart."""


@dataclass(frozen=True)
class Job:
    """A command that writes to `{out}`, what it grows line by line, and what is there before."""

    name: str
    command: tuple[str, ...]
    grows: tuple[str, ...] = ()
    before: Callable[[Path], object] = lambda _: None
    last_words: str = ""
    """What it prints when all is done."""


@dataclass
class Count:
    """What was seen over all kills of a job."""

    kills: int = 0
    too_late: int = 0
    """Kills that came after the end."""
    nothing: int = 0
    part: int = 0
    whole: int = 0
    """What was there after a kill: nothing yet, a part, or all of it."""
    left: int = 0
    """Temporary files that kills left behind, all gone after the next run."""
    wrong: list[str] = field(default_factory=list)


class Stage:
    """Runs commands in forked children."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hardening.stage"],
            cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._answer()

    def run(self, command: list[str], output: Path, **kill: float) -> tuple[int, int]:
        """Exit code (-9 where it was killed) and number of calls."""
        assert self._process.stdin is not None
        output.unlink(missing_ok=True)
        output.touch()
        order = {"command": command, "output": str(output), **kill}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        code, calls = json.loads(self._answer())
        return code, calls

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the stage is gone"
        return line


def tree(path: Path) -> Tree:
    """Every file below a path, or the file itself, by its path; folders as well."""
    if path.is_file():
        return {".": path.read_bytes()}
    return {
        one.relative_to(path).as_posix(): one.read_bytes() if one.is_file() else b"/"
        for one in sorted(path.rglob("*"))
    }


def around(path: Path) -> list[str]:
    """What stands beside a path and is not the path."""
    return sorted(one.name for one in path.parent.iterdir() if one != path)


class Killer:
    """Kills a job, and sees that it comes out as if it had never been disturbed."""

    def __init__(self, stage: Stage, job: Job, folder: Path) -> None:
        self.stage, self.job, self.folder = stage, job, folder
        self.said = folder / "said.txt"
        self.count = Count()
        out = self._fresh()
        self.before = tree(out)
        started = time.monotonic()
        code, _ = self._run(out)
        self.seconds = time.monotonic() - started
        assert code == 0, self.said.read_text()
        self.good, self.beside = tree(out), around(out)
        _, self.calls = self._run(self._fresh(), call=0)

    def kill(self, *ways: dict[str, float]) -> None:
        """Kill one run after the other in these ways, then let one through."""
        out, count, good = self._fresh(), self.count, self.good
        for how in ways:
            code, _ = self._run(out, **how)
            if code != -signal.SIGKILL:
                assert code == 0, self.said.read_text()
                count.too_late += 1
                continue
            count.kills += 1
            found = tree(out) if out.exists() else {}
            count.wrong += _between(self.job, found, self.before, good, self.said.read_text())
            count.left += len(set(around(out)) - set(self.beside))
            count.left += len([name for name in found if "-part" in name])
            count.nothing += found == self.before
            count.whole += found == good
            count.part += found not in (self.before, good)
        code, _ = self._run(out)
        if code != 0:
            count.wrong.append(f"the next run failed: {self.said.read_text()[:300]}")
        elif tree(out) != good:
            count.wrong.append(f"the next run ended differently: {_differences(tree(out), good)}")
        if around(out) != self.beside:
            count.wrong.append(f"left beside: {around(out)}")

    def _run(self, out: Path, **kill: float) -> tuple[int, int]:
        command = [word.replace("{out}", str(out)) for word in self.job.command]
        return self.stage.run(command, self.said, **kill)

    def _fresh(self) -> Path:
        """A place where only what is there before is there."""
        place = self.folder / self.job.name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        self.job.before(place / "out")
        return place / "out"


def killed_often(stage: Stage, job: Job, folder: Path, kills: int, seed: int) -> Count:
    """Kill a job at random points: after some time, or before some call; up to three in a row."""
    dice = random.Random(f"{job.name} {seed}")
    killer = Killer(stage, job, folder)

    def way() -> dict[str, float]:
        if dice.random() < 0.5:
            return {"seconds": dice.random() * killer.seconds}
        return {"call": dice.randint(1, killer.calls)}

    while killer.count.kills < kills:
        killer.kill(*(way() for _ in range(dice.choice((1, 1, 1, 2, 3)))))
    return killer.count


def killed_everywhere(stage: Stage, job: Job, folder: Path, all_calls: bool) -> Count:
    """Kill a job once before each of its calls; of many calls alike, in the middle, before some."""
    killer = Killer(stage, job, folder)
    last = killer.calls
    for call in range(1, last + 1):
        if all_calls or call <= ENDS or call > last - ENDS or call % APART == 0:
            killer.kill({"call": call})
    return killer.count


def _between(job: Job, found: Tree, before: Tree, good: Tree, said: str) -> list[str]:
    """What is wrong right after a kill: whatever is there must be whole."""
    wrong = []
    for name, data in found.items():
        if "-part" in name:
            continue  # what was being written
        if name in job.grows:
            if not good[name].startswith(data):
                wrong.append(f"{name} is no beginning of what it becomes")
        elif data not in (good.get(name), before.get(name)):
            wrong.append(f"{name} is neither old nor new")
    if before and not (set(before) <= set(found) or found == good):
        wrong.append(f"lost: {sorted(set(before) - set(found))[:3]}")
    if job.last_words and job.last_words in said and found != good:
        wrong.append(f"said to be done: {_differences(found, good)}")
    return wrong


def _differences(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> list[str]:
    names = sorted(set(one) | set(other))
    return [name for name in names if one.get(name) != other.get(name)][:5]

"""Commands that are killed and run again, and what must hold in between and at the end."""

import json
import logging
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import pytest

from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin, write_store
from memaudit.workspace.run_folder import LOCK
from tests.boards import UNITS, answer_sheets, make_board, write_labels
from tests.cli.running import done
from tests.hardening.box import ROOT
from tests.hardening.edits import KILLS, SEED
from tests.hardening.targets import FULL

pytestmark = pytest.mark.slow

Tree = dict[str, bytes]


@dataclass(frozen=True)
class Job:
    """A command that reads from `{in}` and writes to `{out}`, what it grows line by line, and what
    is there before."""

    name: str
    command: str
    grows: tuple[str, ...] = ()
    journal: str = ""
    """A file that exists only while it runs."""
    before: Callable[[Path], object] = lambda _: None
    last_words: str = ""
    """What it prints when all is done."""
    share: int = 2
    """Of every 38 kills."""


@dataclass
class Count:
    kills: int = 0
    too_late: int = 0
    """Kills that came after the end."""
    nothing: int = 0
    part: int = 0
    whole: int = 0
    """What was there after a kill: nothing yet, a part, or all of it."""
    wrong: list[str] = field(default_factory=list)


def run(command: list[str], output: Path, seconds: float | None = None) -> int:
    """The exit code of a command, -9 where it was killed after so many seconds."""
    with output.open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "memaudit.cli.main", *command],
            cwd=ROOT,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def tree(path: Path) -> Tree:
    """Every file below a path, or the file itself, by its path; folders as well. What a killed
    process had begun to write is left out: its name is hidden and ends in `.new-part`."""
    if path.is_file():
        return {".": path.read_bytes()}
    return {
        one.relative_to(path).as_posix(): one.read_bytes() if one.is_file() else b"/"
        for one in sorted(path.rglob("*"))
        if ".new-part" not in one.as_posix()
    }


def around(path: Path) -> list[str]:
    """What stands beside a path and is not the path."""
    names = sorted(one.name for one in path.parent.iterdir() if one != path)
    return [name for name in names if not name.endswith(".new-part")]


class Killer:
    """Kills a job, and sees that it comes out as if it had never been disturbed."""

    def __init__(self, job: Job, inputs: Path, folder: Path) -> None:
        self.job, self.inputs, self.folder = job, inputs, folder
        self.said = folder / "said.txt"
        self.count = Count()
        out = self._fresh()
        self.before = tree(out)
        started = time.monotonic()
        code = self._run(out)
        self.seconds = time.monotonic() - started
        assert code == 0, self.said.read_text()
        self.good, self.beside = tree(out), around(out)

    def kill(self, *moments: float) -> None:
        """Kill one run after the other after so many seconds, then let one through."""
        out, count, good = self._fresh(), self.count, self.good
        for seconds in moments:
            code = self._run(out, seconds)
            if code != -signal.SIGKILL:
                assert code == 0, self.said.read_text()
                count.too_late += 1
                continue
            count.kills += 1
            found = tree(out) if out.exists() else {}
            count.wrong += _between(self.job, found, self.before, good, self.said.read_text())
            count.nothing += found == self.before
            count.whole += found == good
            count.part += found not in (self.before, good)
        if self._run(out) != 0:
            count.wrong.append(f"the next run failed: {self.said.read_text()[:300]}")
        elif tree(out) != good:
            count.wrong.append(f"the next run ended differently: {_differences(tree(out), good)}")
        if around(out) != self.beside:
            count.wrong.append(f"left beside: {around(out)}")

    def _run(self, out: Path, seconds: float | None = None) -> int:
        command = [
            word.replace("{in}", str(self.inputs)).replace("{out}", str(out))
            for word in self.job.command.split(" ")
        ]
        return run(command, self.said, seconds)

    def _fresh(self) -> Path:
        """A place where only what is there before is there."""
        place = self.folder / self.job.name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        self.job.before(place / "out")
        return place / "out"


def _between(job: Job, found: Tree, before: Tree, good: Tree, said: str) -> list[str]:
    """What is wrong right after a kill: whatever is there must be whole."""
    wrong = []
    for name, data in found.items():
        if "-part" in name or name in (job.journal, LOCK):
            continue  # what was being written, or what the next run resumes from
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


LOG = logging.getLogger(__name__)
LATER = Memory(id="later", text="Nights are for work")
OLD = FULL.replace(name="older", attributes={})


def old_store(out: Path) -> None:
    out.write_text('{"format": "memaudit-store", "note": "older"}\n')


def old_site(out: Path) -> None:
    """A bundle from before, of one page that is no longer there."""
    out.mkdir()
    (out / "old.html").write_text("older")
    manifest = {"format": "memaudit-site", "files": {"old.html": "", "index.html": ""}}
    (out / "site.json").write_text(json.dumps(manifest))


def labelled_vendor(out: Path) -> None:
    """A system's folder: of its two memories, one was labelled before."""
    out.mkdir()
    memories = tuple(Memory(id=text, text=text) for text in (UNITS[1], "Dogs are hers"))
    origin = Origin(system="own", format="plain")
    store = ExportedStore(name="vendor", origin=origin, memories=(*memories, LATER))
    write_store(store, out / "talk0.json")
    labels = {("Dogs are hers", "u3"): 1.0}
    files = ("coverage.jsonl", "blind_a.jsonl", "blind_b.jsonl")
    write_labels(out, ["talk0"], dict.fromkeys(files, labels))


def answered_sheets(folder: Path) -> None:
    """A board, and sheets for the memory of the vendor that is new."""
    make_board(folder / "board", {"good": [list(UNITS[2:])]}, conversations=1)
    labelled_vendor(folder / "vendor")
    out = folder / "answered"
    done("label sheets", folder / "board", f"--add x={folder / 'vendor'} --out", out)
    answer_sheets(out, {LATER.text: {"u2"}})


JOBS = (
    Job(
        "run",
        "run --packages base,update_chain --seeds 12 --budgets 2,4 --writers opt,gvt,recency_raw "
        "--set engine.name=serial --out {out}",
        grows=("rows.jsonl",),
        last_words="rows and summary are in",
        share=8,
    ),
    Job(
        "diagnose",
        "diagnose event_graph:experiences=14:seeds=0-3 --budget 0.1 --writer gvt --out {out}",
        grows=("rows.jsonl",),
        last_words="rows, memories and summary are in",
    ),
    Job(
        "build",
        "build {in}/talks.jsonl --out {out}",
        journal=".build.jsonl",
        last_words=" packages in ",
        share=5,
    ),
    Job("import", "import {in}/export.json --out {out}", last_words="wrote ", share=3),
    Job("serve --out", "serve {in}/notes.json --out {out}", last_words="open "),
    Job(
        "serve over a site",
        "serve {in}/notes.json --out {out}",
        before=old_site,
        last_words="open ",
        share=3,
    ),
    Job(
        "import over a store",
        "import {in}/export.json --out {out}",
        before=old_store,
        last_words="wrote ",
        share=4,
    ),
    Job(
        "convert over a folder",
        "package convert {in}/built.json {out}",
        before=lambda out: write_package(OLD, out),
        last_words="wrote 1 package",
    ),
    Job(
        "labels over labels",
        "label sheets {in}/board --add x={out} --out {in}/answered",
        before=labelled_vendor,
        last_words="1 memory are in ",
    ),
    Job("frame", "label frame {in}/built.json --out {out}", last_words="cells of"),
)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    shipped = files("memaudit.examples").joinpath("natural/conversations.jsonl")
    talks = shipped.read_text("utf-8").split('{"conversation"')
    (folder / "talks.jsonl").write_text('{"conversation"'.join(talks[:9]))
    rows = [{"id": f"m{n}", "memory": f"Memory {n} of many.", "hash": "x"} for n in range(400)]
    (folder / "export.json").write_text(json.dumps({"results": rows}))
    write_package(FULL, folder / "built.json")
    memories = (Memory(id="m1", text="She had tea."),)
    origin = Origin(system="own", format="plain")
    write_store(
        ExportedStore(name="notes", origin=origin, memories=memories), folder / "notes.json"
    )
    answered_sheets(folder)
    return folder


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_killed(job: Job, inputs: Path, tmp_path: Path) -> None:
    """After a random time, up to three times in a row: whole or not there after each kill; the next
    run ends as if nothing had happened."""
    dice = random.Random(f"{job.name} {SEED}")
    killer = Killer(job, inputs, tmp_path)
    while killer.count.kills < KILLS * job.share // sum(other.share for other in JOBS):
        moments = range(dice.choice((1, 1, 1, 2, 3)))
        # Before a second has passed, a command has only imported what it needs.
        killer.kill(*(dice.uniform(min(1, killer.seconds / 2), killer.seconds) for _ in moments))
    LOG.info("%s: %s", job.name, killer.count)
    assert killer.count.wrong == []

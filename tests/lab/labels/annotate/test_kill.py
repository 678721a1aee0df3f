"""kill -9 at random moments: what was acknowledged is there, and the file opens again."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from threading import Thread

import pytest

from memaudit.kernel.package.labels import LABEL_NAMES
from memaudit.lab.labels.annotate.labelling import LabelDatabase, frame_digest
from tests.lab.labels.annotate.small_frames import Served, frame_folder, frame_of, served

pytestmark = pytest.mark.slow

CELLS = 100
KILLS = 24

FORKER = """
import gc, os, sys
from pathlib import Path
import memaudit.lab.labels.annotate.app, memaudit.lab.serving
from memaudit.lab.labels.frame_files import read_frame
from memaudit.lab.commands.label import annotate
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        print("pid", os.getpid(), flush=True)
        annotate(Path(line.strip()), "ann", None, 0, True, None)
        os._exit(0)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""
"""Imports once, then forks one server after another: `label annotate` itself, only quicker.

What a server says comes in order, since it names itself: its number, its address, its end.
"""


class Forker:
    """Servers that start at once, to be killed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, frame: Path) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{frame}\n")
        self._process.stdin.flush()
        return int(self._said("pid").split()[1])

    def address(self) -> str:
        return self._said("http").strip()

    def kill(self, pid: int) -> None:
        """kill -9, and wait until it is gone."""
        os.kill(pid, signal.SIGKILL)
        self._said("ended")

    def _said(self, word: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(word):
                return line
            assert not line.startswith("ended"), f"the server ended without {word}"
        raise AssertionError(f"no {word} from the forker")


@pytest.fixture(scope="module")
def forker() -> Iterator[Forker]:
    with subprocess.Popen(
        [sys.executable, "-c", FORKER], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield Forker(process)
        process.kill()


def label_until_it_dies(
    server: Served, dice: random.Random, sent: list[tuple[str, str, str]], acknowledged: list[int]
) -> None:
    try:
        while True:
            position, label = dice.randrange(1, CELLS + 1), dice.choice(LABEL_NAMES)
            note = f"{len(sent)} {'x' * dice.randrange(400)}"
            sent.append((f"c{position:04}", label, note))
            server.post("/decisions", {"position": position, "label": label, "note": note})
            acknowledged.append(len(sent))
    except (OSError, HTTPException):
        return


def test_no_acknowledged_label_is_lost(forker: Forker, tmp_path: Path) -> None:
    frame = frame_folder(tmp_path / "frame", CELLS)
    dice = random.Random(6)
    expected: list[tuple[str, str, str]] = []
    total = 0
    for _ in range(KILLS):
        pid = forker.start(frame)
        sent: list[tuple[str, str, str]] = []
        acknowledged: list[int] = []
        server = Served(None, forker.address(), "")  # type: ignore[arg-type]
        arguments = (server, random.Random(dice.random()), sent, acknowledged)
        client = Thread(target=label_until_it_dies, args=arguments)
        client.start()
        while not acknowledged and client.is_alive():  # the first answer takes longest
            time.sleep(0.002)
        time.sleep(dice.random() * 0.08)
        forker.kill(pid)
        client.join(timeout=30)
        store = LabelDatabase(frame / "labels.sqlite", frame_digest(frame_of(CELLS).cells), CELLS)
        rows = store.rows("SELECT cell_id, label, note FROM decisions ORDER BY id")
        store.close()
        assert len(rows) - len(expected) in (len(acknowledged), len(acknowledged) + 1)
        expected += sent[: len(rows) - len(expected)]
        assert rows == expected
        total += len(acknowledged)
    assert total > KILLS


def test_killed_while_it_opens(forker: Forker, tmp_path: Path) -> None:
    dice = random.Random(7)
    cells = frame_of(3).cells
    for number in range(12):
        frame = frame_folder(tmp_path / f"frame{number}", 3)
        pid = forker.start(frame)
        time.sleep(dice.random() * 0.04)
        forker.kill(pid)
        store = LabelDatabase(frame / "labels.sqlite", frame_digest(cells), 3)
        store.decide("ann", "c0001", "full", "")
        assert store.label_set("ann").labels == {"c0001": "full"}
        store.close()


def test_the_command_itself(tmp_path: Path) -> None:
    frame = frame_folder(tmp_path / "frame", 3)
    with served(frame, "ann") as server:
        server.post("/decisions", {"position": 1, "label": "partial", "note": "half"})
        server.post("/notes", {"position": 2, "note": "being wri", "finished": False})
        server.kill()
    assert (frame / "labels.sqlite-wal").exists()
    with served(frame, "ann") as server:
        assert server.first_line.startswith("1 of 3 cells labelled by ann")
        first, second = (json.loads(server.get(f"/cells/{n}")[2])["cell"] for n in (1, 2))
    assert (first["label"], first["note"]) == ("partial", "half")
    assert (second["label"], second["note"], second["is_draft"]) == (None, "being wri", True)

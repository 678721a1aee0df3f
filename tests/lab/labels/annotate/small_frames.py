"""Frames to label, and a server in a process of its own."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.lab.labels.frame import Frame, FrameCell, KeyedCell
from memaudit.lab.labels.frame_files import write_frame

SECRETS = (
    "hidden-provenance",
    "hidden-candidate",
    "hidden-unit",
    "hidden-package",
    "hidden-kind",
    "17/3",
    "5.67",
)
"""What of a frame must never reach an annotator, as it stands in the frames below."""

TEXTS = (
    ("Mara keeps two rabbits on her balcony.", "Mara has rabbits.", "my two rabbits love the sun"),
    ("She was at the dentist.", "Leon plays the cello on Sundays.", "cello every Sunday!"),
    ("(Olga) -[works at]-> (bakery)", "Olga works at the bakery in Turku.", ""),
)


def frame_of(count: int, texts: Sequence[tuple[str, str, str]] = TEXTS) -> Frame:
    cells, key = [], {}
    for number in range(count):
        memory, unit, quote = texts[number % len(texts)]
        cell = FrameCell(
            f"c{number + 1:04}",
            "hidden-package",
            f"hidden-candidate-{number}",
            f"hidden-unit-{number}",
            "hidden-kind",
            "hidden-kind",
            True,
            memory,
            unit,
            quote,
        )
        cells.append(cell)
        key[cell.id] = KeyedCell(Fraction(1, 2), "hidden-provenance", Fraction(17, 3))
    return Frame(tuple(cells), key)


PARTS = (("what", "plays the cello"), ("who", "Leon"), ("when", "on Sundays"))
"""The parts of the second cell of `frame_with_parts`."""


def frame_with_parts() -> Frame:
    """Three cells; the second is of a statement with parts, of which the key keeps one."""
    plain = frame_of(3)
    first, second, third = plain.cells
    key = {**plain.key, second.id: replace(plain.key[second.id], kept=frozenset({"what"}))}
    return Frame((first, replace(second, parts=PARTS), third), key)


def frame_folder(path: Path, count: int, texts: Sequence[tuple[str, str, str]] = TEXTS) -> Path:
    write_frame(frame_of(count, texts), path)
    return path


@dataclass
class Served:
    """A server that runs, and a client of it."""

    process: subprocess.Popen[str]
    address: str
    first_line: str

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def send(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            link.request(method, path, body, headers)
            answer = link.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            link.close()

    def get(self, path: str) -> tuple[int, dict[str, str], bytes]:
        return self.send("GET", path, self.cookie())

    def post(self, path: str, said: object) -> Any:
        headers = {**self.cookie(), "origin": self.origin, "content-type": "application/json"}
        status, _, body = self.send("POST", path, headers, json.dumps(said).encode())
        assert status == 200, body
        return json.loads(body)

    def cookie(self) -> dict[str, str]:
        return {"cookie": f"memaudit_{self.port}={self.token}"}

    def kill(self) -> None:
        """kill -9, at once."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def interrupt(self) -> tuple[int, str, str]:
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@contextmanager
def served(frame: Path, annotator: str, *options: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "memaudit.cli.main",
            "label",
            "annotate",
            str(frame),
            "--annotator",
            annotator,
            "--no-browser",
            *options,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        first, address = process.stdout.readline(), process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.communicate()
        yield Served(process, address, first.strip())
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()

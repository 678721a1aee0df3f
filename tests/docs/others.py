"""Those a page takes for granted: a model that answers, and a person at a page that is served."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.downstream.readers.fake_reader import reads
from tests.models.server import serving
from tests.natural.passes.fake_model import blocks, instead
from tests.web.annotate.frames import Served

ADDRESS = "http://localhost:8000/v1"
"""Where the pages say that a model is."""

ACCEPTED = {"verdict": "accepted", "required": [], "rewrites": [], "reason": "it is so"}
AGREES = instead("adjudication", json.dumps(ACCEPTED))
"""A model for all passes; as the adjudicator it accepts what it is shown."""


@contextmanager
def model() -> Iterator[str]:
    """The address of a deterministic model that answers every pass, and reads."""
    with serving(_answers) as served:
        yield served.url


def _answers(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    given = blocks(body["messages"][1]["content"])
    (reads if set(given) == {"question", "memories"} else AGREES)(handler, body)


def visited(words: list[str]) -> tuple[int, str]:
    """Start a server, look at its page, label a cell where cells are labelled, press Ctrl-C.

    The exit code and what was printed. The browser that it opens is the program `true`.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "memaudit.cli.main", *words], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "BROWSER": "true"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            lines = [process.stdout.readline(), process.stdout.readline()]
            server = Served(process, lines[1].strip(), lines[0])
            assert server.get("/")[0] == 200, lines
            if words[0] == "annotate":
                server.post("/decisions", {"position": 1, "label": "none", "note": ""})
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    return process.returncode, "".join([*lines, rest])

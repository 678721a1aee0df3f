"""A build that is killed resumes."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.models.server import serving
from tests.natural.passes.building import live, make
from tests.natural.passes.conftest import FinishedBuild
from tests.natural.passes.fake_model import plays

FINISHED = 9


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_in_the_middle(built: FinishedBuild, tmp_path: Path) -> None:
    """The tenth request hangs, the process is killed, the next run asks nothing twice but that."""
    stuck, over = threading.Event(), threading.Event()
    calls = iter(range(1_000))

    def hangs_once(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if next(calls) == FINISHED:
            stuck.set()
            over.wait(60)
            return
        plays(handler, body)

    with serving(hangs_once) as served:
        root = Path(__file__).parents[3]
        command = [sys.executable, "-m", "tests.natural.passes.killed_build"]
        process = subprocess.Popen([*command, served.url, str(tmp_path)], cwd=root)
        try:
            assert stuck.wait(60)
            os.kill(process.pid, signal.SIGKILL)
            assert process.wait(60) == -signal.SIGKILL
        finally:
            over.set()
            if process.poll() is None:
                process.kill()
        assert len(served.bodies) == FINISHED + 1
        assert not (tmp_path / "out").exists()
        made = make(tmp_path, live(served.url))
    asked = Counter(json.dumps(body, sort_keys=True) for body in served.bodies)
    hanging = json.dumps(served.bodies[FINISHED], sort_keys=True)
    assert [text for text, times in asked.items() if times > 1] == [hanging]
    assert len(served.bodies) == len(built.served.bodies) + 1
    assert made.digests == built.made.digests

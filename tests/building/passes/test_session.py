"""Estimates and a yes before spending, the cap, and a build that is killed."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.models.session import AskProgress, SessionCallbacks, progress_text
from memaudit.models.spending import price_of
from tests.building.passes.building import RECIPE, FinishedBuild, live, make
from tests.building.passes.fake_model import plays, which
from tests.models.server import serving

ONE = ("film-night",)


def test_an_estimate_before_every_pass(tmp_path: Path) -> None:
    """With prices a range in dollars; progress counts calls and what they cost."""
    shown: list[str] = []
    steps: list[tuple[str, AskProgress]] = []
    callbacks = SessionCallbacks(
        shown.append, progress=lambda stage, state: steps.append((stage, state))
    )
    with serving(plays) as served:
        settings = replace(live(served.url), price=price_of("1", "2"))
        make(tmp_path, settings, conversations=ONE, callbacks=callbacks)
    heads = [line for line in shown if line.startswith("pass ")]
    assert heads == [
        "pass memories, one:",
        "pass units, one:",
        "pass requirements, one:",
        "pass adjudication, other:",
        "pass coverage, one:",
        "pass spot check, other:",
    ]
    assert sum(line.startswith("about $") for line in shown) == 6
    assert len(steps) == len(served.bodies)
    stage, last = steps[-1]
    # each call has 10 prompt tokens at 1 and 5 reply tokens at 2 dollars a million
    assert last.spent.cost == len(served.bodies) * price_of("1", "2").cost(10, 5)  # type: ignore[union-attr]
    assert progress_text(stage, last).startswith("pass spot check: ")
    assert f"used {len(served.bodies)} calls" in progress_text(stage, last)


def test_a_no_stops_before_the_pass(tmp_path: Path) -> None:
    """Yes to the first two passes, no to the third: what was answered stays in the cache."""
    answers = iter([True, True, False])
    with serving(plays) as served:
        with pytest.raises(MemAuditError, match="stopped before the first call"):
            make(
                tmp_path,
                live(served.url),
                conversations=ONE,
                callbacks=SessionCallbacks(agree=answers.__next__),
            )
        assert [which(body) for body in served.bodies] == ["memories", "units"]
        make(
            tmp_path,
            live(served.url),
            conversations=ONE,
            callbacks=SessionCallbacks(agree=lambda: True),
        )
    assert [which(body) for body in served.bodies].count("memories") == 1


def test_the_cap_stops_the_build(tmp_path: Path) -> None:
    """No package is made of what was answered before; a larger cap goes on from there.

    With its reply, the request for units takes over 15,000 tokens, that for memories under 14,000.
    """
    with serving(plays) as served:
        settings = replace(live(served.url), max_total_tokens=14_500)
        with pytest.raises(MemAuditError, match=r"pass units: .* raise the cap and run again"):
            make(tmp_path, settings, RECIPE, ONE)
        before = len(served.bodies)
        assert {which(body) for body in served.bodies} == {"memories"}
        assert not (tmp_path / "out").exists()
        made = make(tmp_path, live(served.url), RECIPE, ONE)
    assert made.manifest["usage"]["calls"] == len(served.bodies)
    assert made.session.client.spent.calls == len(served.bodies) - before


FINISHED = 9
KILLED = """
import sys
from pathlib import Path
from tests.building.passes.building import live, make
make(Path(sys.argv[2]), live(sys.argv[1]), concurrency=1)
"""


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
        command = [sys.executable, "-c", KILLED, served.url, str(tmp_path)]
        process = subprocess.Popen(command, cwd=root)
        try:
            assert stuck.wait(60)
            os.kill(process.pid, signal.SIGKILL)
            assert process.wait(60) == -signal.SIGKILL
        finally:
            over.set()
            if process.poll() is None:
                process.kill()
        assert len(served.bodies) == FINISHED + 1
        assert [path.name for path in (tmp_path / "out").iterdir()] == [".lock"]
        made = make(tmp_path, live(served.url))
    asked = Counter(json.dumps(body, sort_keys=True) for body in served.bodies)
    hanging = json.dumps(served.bodies[FINISHED], sort_keys=True)
    assert [text for text, times in asked.items() if times > 1] == [hanging]
    assert len(served.bodies) == len(built.served.bodies) + 1
    assert made.digests == built.made.digests

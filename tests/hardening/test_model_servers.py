"""Hostile model servers over real sockets: bounded time and memory, and no key on disk."""

import json
import logging
import os
import resource
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memaudit.models.secret import HIDDEN
from tests.hardening.box import LONGEST_LINE, ROOT
from tests.hardening.edits import EXAMPLES, SEED
from tests.hardening.hostile_server import (
    HOSTILE,
    KEY,
    PROMPT,
    Behave,
    hostile,
    random_behaviour,
    shown,
)
from tests.hardening.worker import MEMORY

LOG = logging.getLogger(__name__)

TIMEOUT = 1.0
"""Seconds of one call; a request has at most four: one retry, one request to correct the reply."""

LONGEST = 4 * TIMEOUT + 8
"""Seconds of one request, with room for a busy machine."""

LARGEST = 400 << 10
"""Kilobytes of the asking process, of which Python and its libraries take a quarter."""


def peak() -> int:
    """The most memory this process had, in kilobytes; the usual figure begins with its parent's."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1])


class Asker:
    """A process that asks servers one request each, and is replaced if it hangs or dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, url: str, folder: Path) -> dict[str, Any]:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        folder.mkdir()
        process.stdin.write(json.dumps({"url": url, "folder": str(folder)}) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], LONGEST)
        line = process.stdout.readline() if ready else ""
        if not line:
            self.close()
            pytest.fail(f"it {'died' if ready else 'hangs'}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.hardening.test_model_servers"],
                cwd=ROOT,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "MEMAUDIT_API_KEY": KEY},
            )
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == "ready\n"
        return self._process

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture(scope="module")
def asker() -> Iterator[Asker]:
    made = Asker()
    yield made
    made.close()


def attacked(
    asker: Asker, behave: Behave, folder: Path, scheme: str = "http", share: float = 0.6
) -> str:
    """How a request to a hostile server ends; whatever no server may cause is an error here."""
    with hostile(behave) as port:
        began = time.monotonic()
        answer = asker.ask(f"{scheme}://127.0.0.1:{port}/v1", folder)
        seconds = time.monotonic() - began
    assert seconds < LONGEST
    assert answer["kilobytes"] < LARGEST
    assert "Traceback" not in answer["trace"] + answer["err"], answer["trace"]
    lines = answer["err"].splitlines()
    assert all(line.isprintable() and len(line) < LONGEST_LINE for line in lines), lines
    if answer["ends"] == "stops":
        assert len(lines) == 1
        assert lines[0].startswith("error: ")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    written = b"".join(path.read_bytes() for path in files).decode("utf-8", "replace")
    assert shown(written + answer["err"] + answer["detail"] + answer["trace"], share) is False
    return str(answer["ends"])


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_hostile_servers(asker: Asker, tmp_path: Path) -> None:
    """Each behaviour ends as listed: a reply, a counted failure, or one line."""
    assert len(HOSTILE) >= 36
    wrong = {}
    for number, (name, one) in enumerate(HOSTILE.items()):
        ends = attacked(asker, one.behave, tmp_path / str(number), one.scheme)
        if ends != one.ends:
            wrong[name] = (one.ends, ends)
    assert wrong == {}
    LOG.info("%d behaviours of servers", len(HOSTILE))


@pytest.mark.slow
@pytest.mark.timeout(0)  # MEMAUDIT_FUZZ_EXAMPLES says how long
def test_random_servers(asker: Asker, tmp_path: Path) -> None:
    """Responses damaged by chance."""
    ends: Counter[str] = Counter()
    for number in range(EXAMPLES * 10):
        behave = random_behaviour(f"{SEED} {number}")
        # A server may spell half a key; what may not be left is all of it.
        ends[attacked(asker, behave, tmp_path / str(number), share=1.0)] += 1
    assert {"reply", "http", "stops"} <= ends.keys()
    LOG.info("%d responses: %s", ends.total(), dict(ends))


def test_a_shown_key_is_seen() -> None:
    """The check itself."""
    assert shown(f"<{KEY[:-5]}>")
    assert not shown(f"{HIDDEN} sk-hostile- {PROMPT}")


def main() -> None:
    """Ask one request of each server that the parent names, as a command would."""
    import io
    import traceback
    from contextlib import redirect_stderr

    import typer

    from memaudit.cli.errors import reported
    from memaudit.models.cache import Cache, export_cache
    from memaudit.models.live import RetryPolicy
    from memaudit.models.request import Failure
    from memaudit.models.session import ModelSettings, SessionCallbacks, open_session
    from tests.models.asking import Labels, request

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    sys.stdout.write("ready\n")
    sys.stdout.flush()

    def asked(url: str, folder: Path) -> tuple[str, str]:
        settings = ModelSettings(
            base_url=url, timeout=TIMEOUT, retry=RetryPolicy(retries=1, first=0.01)
        )
        callbacks = SessionCallbacks(show=lambda line: typer.echo(line, err=True), yes=True)
        with Cache(folder / "cache") as cache:
            session = open_session(settings, cache, callbacks)
            try:
                outcome = session.client.ask(request(PROMPT), Labels)
                session.ledger.add("conversation", "pass", outcome)
            finally:
                export_cache(cache, folder / "cache.jsonl")
                problems = [problem.to_json() for problem in session.ledger.problems]
                (folder / "problems.json").write_text(json.dumps(problems, ensure_ascii=False))
        if isinstance(outcome, Failure):
            return outcome.kind.value, outcome.detail
        return "reply", repr(outcome)

    for line in sys.stdin:
        job = json.loads(line)
        err, trace, ends, detail = io.StringIO(), "", "stops", ""
        try:
            with redirect_stderr(err), reported():
                ends, detail = asked(job["url"], Path(job["folder"]))
        except typer.Exit:
            pass
        except Exception:  # noqa: BLE001 - whatever escapes is what we are looking for
            trace = traceback.format_exc()
        answer = {
            "ends": ends,
            "detail": detail,
            "err": err.getvalue(),
            "trace": trace,
            "kilobytes": peak(),
        }
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

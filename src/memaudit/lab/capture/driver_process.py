"""The child process that runs a memory system: started on demand, restarted after it broke."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from memaudit.kernel.errors import MemAuditError, MissingTool
from memaudit.kernel.words.text import one_line
from memaudit.lab.capture.systems import DRIVERS, MemorySystem
from memaudit.models.secret import HIDDEN, Secret

ADDRESS = "http://model/v1"
"""Stands in a store for the address at which the system found its model."""

TAIL = 20
GRACE = 10.0


class DriverDied(MemAuditError):
    """The system's process ended, hung or broke; its current example is not finished."""


class DriverProcess:
    """Runs `serve.py` in the system's environment and talks to it."""

    def __init__(
        self, system: MemorySystem, python: str, environment: Mapping[str, str], address: str = ""
    ) -> None:
        self.system, self.python, self.environment = system, python, dict(environment)
        self.address = address
        self._key = Secret(self.environment.get("OPENAI_API_KEY", ""))
        self._tail: deque[str] = deque(maxlen=TAIL)
        self._replies: queue.Queue[str | None] = queue.Queue()

    def __enter__(self) -> Self:
        command = [self.python, str(DRIVERS / "serve.py"), str(self.system.driver)]
        try:
            self._process = subprocess.Popen(
                command,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # Ctrl-C is for us; we then end the child ourselves
            )
        except OSError as error:
            raise MemAuditError(
                f"cannot run {self.python}: {error.strerror or error}; give --python the "
                f"interpreter of an environment with {self.system.label}"
            ) from None
        threading.Thread(target=self._read_replies, daemon=True).start()
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()
        return self

    def _read_replies(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._replies.put(line)
        self._replies.put(None)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._tail.append(line.rstrip())

    def ask(
        self,
        do: str,
        patience: float,
        last_sign: Callable[[], float] = lambda: 0.0,
        **fields: object,
    ) -> dict[str, Any]:
        """The reply. `last_sign` is when the system was last seen at work, on the monotonic clock;
        patience counts from there."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the missing reply shows that the child is dead
            self._process.stdin.write(json.dumps({"do": do, **fields}) + "\n")
            self._process.stdin.flush()
        line = self._awaited(patience, last_sign)
        if line is None:
            raise DriverDied(f"the process of {self.system.label} ended: {self._last_error()}")
        if self.address:
            line = line.replace(self.address, ADDRESS)
        line = self._key.hidden_in(line)
        # Hidden as a whole: the key stands in it in a form that cannot be cut out, and so is
        # refused.
        if line == HIDDEN:
            raise DriverDied(f"{self.system.label} returned the API key in disguise")
        reply: dict[str, Any] = json.loads(line)
        if "missing" in reply:
            raise MissingTool(
                f"{self.system.label} is not in this environment ({reply['missing']} is missing): "
                f"{self._install_line()}"
            )
        if "fatal" in reply:
            raise DriverDied(f"{self.system.label}: {self._clean(reply['fatal'])}")
        return reply

    def _awaited(self, patience: float, last_sign: Callable[[], float]) -> str | None:
        """The next line; None if the process ended."""
        start = time.monotonic()
        while True:
            # A slow model is no hanging system: every call it makes starts the wait again.
            left = max(start, last_sign()) + patience - time.monotonic()
            if left <= 0:
                raise DriverDied(f"{self.system.label} gave no sign of life in {patience:g} s")
            with contextlib.suppress(queue.Empty):
                return self._replies.get(timeout=left)

    def _install_line(self) -> str:
        line = f"{self.python} -m pip install {self.system.requirements}"
        folder = Path(self.python).parent
        npm = f"{folder / 'npm'} install --prefix {folder.parent} {self.system.npm}"
        return f"{line} && {npm}" if self.system.npm else line

    def _last_error(self) -> str:
        # The error may still be in the pipe when the end of the process is seen.
        self._reader.join(timeout=GRACE)
        lines = [line for line in self._tail if line.strip()]
        return self._clean(lines[-1]) if lines else f"exit code {self._process.wait()}, no message"

    def _clean(self, text: str) -> str:
        return one_line(self._key.hidden_in_message(text))[:400]

    def kill(self) -> None:
        self._process.kill()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=GRACE if kind is None else 1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_PASSED = (
    "PATH HOME LANG LC_ALL TZ TMPDIR SYSTEMROOT SSL_CERT_FILE SSL_CERT_DIR "
    "REQUESTS_CA_BUNDLE HF_HOME HF_HUB_OFFLINE CUDA_VISIBLE_DEVICES OMP_NUM_THREADS "
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy"
)
PASSED = frozenset(_PASSED.split())
"""No other variable is passed: an OPENROUTER_API_KEY would make Mem0 ask another company."""

ALWAYS = {
    "DO_NOT_TRACK": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
}
NEAR = "127.0.0.1"
"""The model's address as the system sees it; no proxy stands before it."""


def child_environment(
    system: MemorySystem, variables: Mapping[str, str], folder: str, key: str, clock: str = "wall"
) -> dict[str, str]:
    """The environment of a driver. A system may write its own files to `folder`."""
    passed = {name: value for name, value in variables.items() if name in PASSED}
    # Libraries read one spelling or the other.
    for name in ("NO_PROXY", "no_proxy"):
        passed[name] = ",".join(filter(None, (passed.get(name), NEAR)))
    # Systems write local times into their stores: with a zone they would differ by machine.
    if clock == "conversation":
        passed["TZ"] = "UTC"
    return {
        **passed,
        **ALWAYS,
        **dict(system.quiet),
        "MEM0_DIR": folder,
        "LETTA_DIR": folder,
        "COGNEE_LOGS_DIR": folder,
        "OPENAI_API_KEY": key,
        "MEMAUDIT_CLOCK": clock,
    }


STARTING = 300.0
"""Seconds a system may take to be imported."""


class Drivers:
    """The running driver of a system, one process at a time."""

    def __init__(
        self, system: MemorySystem, python: str | None, token: Secret, clock: str, address: str
    ) -> None:
        self.system, self.python, self._key = system, interpreter(python), token
        self._clock, self._address = clock, address
        self._stack = ExitStack()
        self._running: DriverProcess | None = None
        self.hello: dict[str, Any] = {}

    def running(self) -> DriverProcess:
        """The driver, started if necessary."""
        if self._running is None:
            home = self._stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
            key = self._key.reveal() or "none"
            environment = child_environment(self.system, os.environ, home, key, self._clock)
            driver = DriverProcess(self.system, self.python, environment, self._address)
            self._running = self._stack.enter_context(driver)
            self.hello = self._running.ask("hello", STARTING)
        return self._running

    def drop(self) -> None:
        """End the driver; the next one is a new process."""
        if self._running is not None:
            self._running.kill()
        self._running = None
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)


def interpreter(given: str | None) -> str:
    """The given interpreter, the one in a given environment folder, or MemAudit's own."""
    if given is None:
        return sys.executable
    for python in (Path(given) / "bin" / "python", Path(given) / "Scripts" / "python.exe"):
        if python.exists():
            return str(python.absolute())
    return given

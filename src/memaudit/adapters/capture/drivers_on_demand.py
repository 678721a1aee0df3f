"""One driver process at a time, started when it is needed and again after it broke."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

from memaudit.adapters.capture.environment import child_environment
from memaudit.adapters.capture.process import DriverProcess
from memaudit.adapters.capture.systems import System
from memaudit.models.secret import Secret

STARTING = 300.0
"""Seconds a system may take to be imported."""


class Drivers:
    """Holds the running driver."""

    def __init__(self, system: System, python: str | None, key: Secret) -> None:
        self.system, self.python, self._key = system, interpreter(python), key
        self._stack = ExitStack()
        self._running: DriverProcess | None = None
        self.hello: dict[str, Any] = {}

    def running(self) -> DriverProcess:
        """The driver, its system imported."""
        if self._running is None:
            home = self._stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
            key = self._key.reveal() or "none"
            environment = child_environment(self.system, os.environ, home, key)
            driver = DriverProcess(self.system, self.python, environment)
            self._running = self._stack.enter_context(driver)
            self.hello = self._running.ask("hello", STARTING)
        return self._running

    def drop(self) -> None:
        """End the driver; the next one is a fresh process."""
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
    """The interpreter named, or the one in the environment folder that was named, or ours."""
    if given is None:
        return sys.executable
    for inside in (Path(given) / "bin" / "python", Path(given) / "Scripts" / "python.exe"):
        if inside.exists():
            return str(inside.absolute())
    return given

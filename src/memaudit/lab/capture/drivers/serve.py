"""Runs in a memory system's environment: one JSON request per line in, one JSON reply per line out.

`python serve.py FILE` loads FILE, which knows one system: DISTRIBUTIONS whose versions are
reported (VERSIONS of what is no Python distribution), OPTIONS it accepts, and a class System with
configuration, feed, rows and close. Only the standard library and the system are imported.
"""

import contextlib
import importlib.metadata
import importlib.util
import io
import json
import logging
import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, TextIO


def _load(file: str) -> Any:
    spec = importlib.util.spec_from_file_location(os.path.basename(file)[:-3], file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


repeatable = _load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "repeatable.py"))
BY_CONVERSATION = os.environ.get("MEMAUDIT_CLOCK") == "conversation"
_contacted: set[str] = set()


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Record every address that this process looks up or connects to."""
    if event == "socket.getaddrinfo":
        _contacted.add(f"{_text(arguments[0])}:{arguments[1]}")
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        _contacted.add(f"{_text(arguments[1][0])}:{arguments[1][1]}")


def _text(host: Any) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)


class _Errors(logging.Handler):
    """The errors that the system logs: some systems only log a failure."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name}: {record.getMessage()}")


class DriverServer:
    """Holds the open system and answers requests about it."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.system: Any = None
        self.texts: dict[str, str] = {}
        self.errors = _Errors()
        logging.getLogger().addHandler(self.errors)

    def hello(self, _: dict[str, Any]) -> dict[str, Any]:
        """The versions of the system and of its main libraries."""
        versions = {"python": platform.python_version()}
        for name in self.module.DISTRIBUTIONS:
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                versions[name] = importlib.metadata.version(name)
        versions.update(getattr(self.module, "VERSIONS", {}))
        return {"versions": versions, "options": sorted(self.module.OPTIONS)}

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """A new, empty store in its own folder."""
        self.close({})
        if BY_CONVERSATION:
            repeatable.clock.start(request["time"])
            repeatable.seed(request["seed"])
        self.system = self.module.System(request["settings"], request["folder"])
        self.texts = {}
        return {"configuration": self.system.configuration}

    def feed(self, request: dict[str, Any]) -> dict[str, Any]:
        """Give the system its next messages, and report what changed in its store."""
        self.errors.lines.clear()
        if BY_CONVERSATION:
            repeatable.clock.move(request["time"])
        printed = io.StringIO()
        problem = ""
        with contextlib.redirect_stdout(printed):
            try:
                self.system.feed(request["messages"])
            # Any library may raise anything here; every error counts as a failure.
            except Exception as error:  # noqa: BLE001
                problem = f"{type(error).__name__}: {error}"
        lines = [line for line in printed.getvalue().splitlines() if line.startswith("Error")]
        problem = problem or next(iter([*self.errors.lines, *lines]), "")
        sys.stderr.write(printed.getvalue())
        return {"changes": self._changes(), "problem": problem}

    def _changes(self) -> list[dict[str, Any]]:
        """What changed in the store since the last message, in the store's order."""
        rows = self.system.rows()
        now = {row["id"]: row["text"] for row in rows}
        before, self.texts = self.texts, now
        changes: list[dict[str, Any]] = [
            {"id": id, "change": "update" if id in before else "add", "export": row["export"]}
            for id, row in ((row["id"], row) for row in rows)
            if before.get(id) != row["text"]
        ]
        return changes + [{"id": id, "change": "delete"} for id in before if id not in now]

    def read(self, _: dict[str, Any]) -> dict[str, Any]:
        """Everything in the store, and every address contacted so far."""
        return {"rows": self.system.rows(), "contacted": sorted(_contacted)}

    def close(self, _: dict[str, Any]) -> dict[str, Any]:
        if self.system is not None:
            self.system.close()
        self.system = None
        return {}


def _answer(handler: Callable[[dict[str, Any]], dict[str, Any]], request: dict[str, Any]) -> str:
    try:
        reply = handler(request)
        return json.dumps(reply, ensure_ascii=True, default=str)
    # The parent decides what a broken system means; it gets the reason, not a closed pipe.
    except Exception as error:  # noqa: BLE001
        traceback.print_exc()
        return json.dumps({"fatal": f"{type(error).__name__}: {error}"}, ensure_ascii=True)


def main(file: str, wire: TextIO) -> None:
    """Answer requests until the parent closes the pipe."""
    sys.addaudithook(_watch)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    if BY_CONVERSATION:
        repeatable.install()
    try:
        server = DriverServer(_load(file))
    except ModuleNotFoundError as error:
        wire.write(json.dumps({"missing": error.name}) + "\n")
        wire.flush()
        return
    handlers = {name: getattr(server, name) for name in ("hello", "open", "feed", "read", "close")}
    for line in sys.stdin:
        request = json.loads(line)
        wire.write(_answer(handlers[request["do"]], request) + "\n")
        wire.flush()
    server.close({})


def end_with_parent() -> None:
    """End soon after the parent, even in the middle of a request that would take minutes."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    end_with_parent()
    # Libraries may print to stdout: replies use a private copy of it, everything else is stderr.
    _wire = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    main(sys.argv[1], _wire)

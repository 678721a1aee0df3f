"""What one connection may take of a local server, and what happens to those that take more."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from memaudit.core.text import visible_text

MOST_CONNECTIONS = 128
"""At once. Far more than a browser opens, and far fewer than the files a process may open."""

ACCEPTED_AT_ONCE = 32
"""New connections taken from the queue together. Several times as many must fit, so that a request
is read before those who come after it can push it out."""

QUEUED = 1024
"""Connections that wait in the system's queue; beyond it a client tries again after a second."""

HEAD_SECONDS, BODY_SECONDS, REPLY_SECONDS = 10, 30, 120
"""For the whole head of a request, its whole body, and for taking the whole reply."""

LONGEST_REQUEST = 1 << 22
"""Bytes of one request that are read at all, also of one that is refused."""

ACCEPTED = "memaudit.accepted"
"""Set in the scope of a request that showed the token."""

LOG = logging.getLogger("memaudit.web")


class Connection(H11Protocol):
    """An HTTP connection with limits. Surplus ones are closed, strangers before the user's own.

    `watch` is called every second. It counts calls and not the clock: while the process is busy,
    nobody's time runs out.
    """

    _numbers = count()

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._number = next(self._numbers)
        self._state: tuple[str, object] = ("", None)
        self._seconds = 0
        self._accepted = False
        self._counted: object = None
        self._bytes = 0

    @property
    def accepted(self) -> bool:
        """Whether a request on it showed the token."""
        if self.cycle is not None and ACCEPTED in self.cycle.scope:
            self._accepted = True
        return self._accepted

    @property
    def phase(self) -> str:
        """What it is waiting for."""
        if self.transport.get_write_buffer_size():
            return "reply"
        phases = {h11.IDLE: "head", h11.SEND_BODY: "body"}
        return phases.get(self.conn.their_state, "work")

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            LOG.warning(
                "more than %d connections at once: surplus ones are closed, those without "
                "the token first",
                MOST_CONNECTIONS,
            )
            one = min(_open(self.connections), key=lambda one: one.worth)
            one.transport.abort()
            self.connections.discard(one)

    @property
    def worth(self) -> tuple[bool, bool, int]:
        """Those of the user last, and of these the ones at work; else the oldest first."""
        return self.accepted, self.accepted and self.phase != "head", self._number

    def data_received(self, data: bytes) -> None:
        self._accepted = self.accepted  # of the request that comes now it is not known yet
        super().data_received(data)
        if self.cycle is not self._counted:
            self._counted, self._bytes = self.cycle, 0
        self._bytes += len(data)
        if self._bytes > LONGEST_REQUEST:
            LOG.warning("a request of more than %d bytes was cut off", LONGEST_REQUEST)
            self.transport.abort()

    def watch(self) -> None:
        """Close the connection if it waited too long for one thing."""
        limits = {"head": HEAD_SECONDS, "body": BODY_SECONDS, "reply": REPLY_SECONDS}
        state = (self.phase, self.cycle)
        self._seconds = self._seconds + 1 if state == self._state else 0
        self._state = state
        limit = limits.get(self.phase)
        if limit is None or self._seconds < limit:
            return
        if self._bytes:  # a browser also opens connections that it does not use
            LOG.warning(
                "a connection was closed: its %s took more than %d seconds", self.phase, limit
            )
        self.transport.abort()


def _open(connections: Any) -> list[Connection]:
    return [one for one in connections if isinstance(one, Connection)]


def watch_all(connections: Any) -> None:
    for one in _open(connections):
        one.watch()


class _OneLine(logging.Handler):
    """Prints every kind of trouble once, in one line."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[tuple[object, ...]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        (line, *_) = record.getMessage().splitlines() or [""]
        error = record.exc_info[1] if record.exc_info else None
        kind: tuple[object, ...] = (line,)
        if error is not None:
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            code = f" in {place.tb_frame.f_code.co_name}:{place.tb_lineno}" if place else ""
            kind = (line, type(error), code)
            (text, *_) = str(error).splitlines() or [""]
            line = f"{line}: {type(error).__name__}{code}: {text}"
        if kind not in self._seen:
            self._seen.add(kind)
            print(f"warning: {visible_text(line)[:400]}", file=sys.stderr)  # noqa: T201


@contextmanager
def one_line_each() -> Iterator[None]:
    """Log what the server says as one line for each kind of trouble, never as a traceback."""
    handler = _OneLine()
    loggers = [LOG, logging.getLogger("uvicorn.error"), logging.getLogger("asyncio")]
    before = [(one.level, one.propagate) for one in loggers]
    for one in loggers:
        one.addHandler(handler)
        one.setLevel(logging.WARNING if one is LOG else logging.ERROR)
        one.propagate = False
    try:
        yield
    finally:
        for one, (level, propagate) in zip(loggers, before, strict=True):
            one.removeHandler(handler)
            one.setLevel(level)
            one.propagate = propagate

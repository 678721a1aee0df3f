"""Serve a local page until Ctrl-C: on loopback only, behind a token, with limits per connection."""

import logging
import re
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from types import FrameType
from typing import Any
from urllib.parse import urlencode

import h11
import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.io.strict_json import parse_json
from memaudit.kernel.words.text import visible_text

_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
_READING = ("GET", "HEAD")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""No inline script or style, nothing from elsewhere, no markup made from strings."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def new_token() -> str:
    """A random secret, safe in a URL."""
    return secrets.token_urlsafe(32)


class Guard:
    """Accepts requests to a loopback host with the token. Writes must come from the page.

    The token comes once in the URL and is exchanged for a cookie. A foreign Host header means that
    a foreign name points to this machine; a foreign Origin, that another site asks.
    """

    def __init__(self, app: ASGIApp, token: str, policy: str = POLICY) -> None:
        self._app = app
        self._token = token.encode()
        self._headers = {**HEADERS, "content-security-policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no page of ours speaks anything else
            return
        refused = self._refusal(Request(scope))
        if refused is None:
            scope[ACCEPTED] = True
        with suppress(ClientDisconnect):  # a tab was closed half-way: nobody waits for an answer
            await (refused or self._app)(scope, receive, _with_headers(send, self._headers))

    def _refusal(self, request: Request) -> Response | None:
        """The response to a refused request. None accepts it."""
        hosts = request.headers.getlist("host")
        # A name of somebody else that resolves to 127.0.0.1 (DNS rebinding) is refused here.
        if len(hosts) != 1 or not _LOOPBACK.fullmatch(hosts[0]):
            return PlainTextResponse("this server answers to loopback names only\n", 421)
        cookie = cookie_name(request.scope)
        if request.method in _READING and "token" in request.query_params:
            if not self._matches(request.query_params["token"]):
                return PlainTextResponse(_NO_TOKEN, 401)
            # Redirect to the page without the token, which must not stay in the address bar.
            asked = request.query_params.multi_items()
            rest = urlencode([(name, value) for name, value in asked if name != "token"])
            # "//evil.example" in a Location header would lead to another host.
            place = "/" + request.url.path.lstrip("/")
            answer = RedirectResponse(f"{place}?{rest}" if rest else place, 303)
            answer.set_cookie(
                cookie, self._token.decode(), path="/", httponly=True, samesite="strict"
            )
            return answer
        if not self._matches(request.cookies.get(cookie, "")):
            return PlainTextResponse(_NO_TOKEN, 401)
        if request.method not in _READING and not _same_origin(request.headers, hosts[0]):
            return PlainTextResponse("only this server's own page may write\n", 403)
        return None

    def _matches(self, given: str) -> bool:
        return secrets.compare_digest(given.encode("utf-8", "replace"), self._token)


_NO_TOKEN = "open the address that memaudit printed: it holds the token this server needs\n"


def cookie_name(scope: Scope) -> str:
    """Browsers keep cookies by host, not by port, so two servers need two names."""
    return f"memaudit_{(scope.get('server') or ('', 0))[1]}"


def _same_origin(headers: Headers, host: str) -> bool:
    return headers.get("origin", "").lower() == f"http://{host.lower()}"


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            sent = MutableHeaders(scope=message)
            for name, value in headers.items():
                sent.setdefault(name, value)
        await send(message)

    return sending


async def read_json(request: Request, longest: int) -> str:
    """The body of a request, which must be JSON that means one thing."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise MemAuditError("expected application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > longest:
            raise MemAuditError("the request is too long")
    try:
        text = body.decode()
        parse_json(text, "request")
    except UnicodeDecodeError:
        raise MemAuditError("the request is not UTF-8") from None
    except InvalidPackage as error:
        raise MemAuditError(f"the request {error.problems[0].message}") from None
    return text


HOST = "127.0.0.1"
GRACE = 2
"""Seconds that running responses may take once the server stops."""


def serve(
    app: ASGIApp,
    port: int,
    announce: Callable[[str], None],
    browser: bool,
    policy: str = POLICY,
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; `announce` gets the address once it answers.

    `ending` is called when the server stops, so that running work stops as well.
    """
    token = new_token()
    with listen(port) as listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}/?token={token}"
        config = uvicorn.Config(
            Guard(app, token, policy),
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=GRACE,
            http=Connection,
            backlog=ACCEPTED_AT_ONCE,
        )

        def on_ready() -> None:
            announce(address)
            if browser:
                # If the browser runs in the terminal, opening it does not return.
                threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()

        # uvicorn raises the signal again after shutdown, so that both end the server the same way.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with suppress(KeyboardInterrupt), one_line_each():
                _Server(config, on_ready, ending).run(sockets=[listener])
        finally:
            signal.signal(signal.SIGTERM, before)


class _Server(uvicorn.Server):
    """Calls `on_ready` when the server answers. From then on a signal ends it cleanly."""

    def __init__(
        self, config: uvicorn.Config, on_ready: Callable[[], None], ending: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._ending = ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        for listening in sockets or []:
            listening.listen(
                QUEUED
            )  # uvicorn has one number for this and for how many it takes at once
        self._on_ready()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second; connections are looked at once a second."""
        if counter % 10 == 0:
            watch_all(self.server_state.connections)
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop. A response that is cut off by that is not an error."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._ending()
        super().handle_exit(sig, frame)


def listen(port: int) -> socket.socket:
    """A listening socket on loopback. Port 0 takes any free port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(QUEUED)
    except OSError as error:
        listener.close()
        raise MemAuditError(
            f"cannot listen on {HOST} port {port}: {(error.strerror or str(error)).lower()}; "
            "choose another --port, or 0 for any free one"
        ) from None
    return listener


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

LOG = logging.getLogger("memaudit.lab")


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
            surplus = min(_open(self.connections), key=lambda connection: connection.worth)
            surplus.transport.abort()
            self.connections.discard(surplus)

    @property
    def worth(self) -> tuple[bool, bool, int]:
        """Those of the user last, and of these the ones at work; else the oldest first."""
        return self.accepted, self.accepted and self.phase != "head", self._number

    def data_received(self, data: bytes) -> None:
        self._accepted = self.accepted  # of the request that comes now it is not known yet
        super().data_received(data)
        # A connection serves many requests, and the limit is for each of them.
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
    return [connection for connection in connections if isinstance(connection, Connection)]


def watch_all(connections: Any) -> None:
    for connection in _open(connections):
        connection.watch()


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
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.WARNING if logger is LOG else logging.ERROR)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate

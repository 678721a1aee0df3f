"""Serve a local page until Ctrl-C: on loopback only, behind a token."""

import logging
import re
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType
from urllib.parse import urlencode

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
MOST_CONNECTIONS = 128
"""At once. Far more than a browser opens, and far fewer than the files a process may open."""


def serve(
    app: ASGIApp,
    port: int,
    announce: Callable[[str], None],
    browser: bool,
    policy: str = POLICY,
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; `announce` gets the address once connections are accepted.

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
            http="h11",
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=GRACE,
        )
        trouble = logging.getLogger("uvicorn.error")
        handler = logging.StreamHandler()
        handler.setFormatter(_OneLine())
        trouble.addHandler(handler)
        trouble.propagate = False
        # uvicorn raises the signal again after shutdown, so that both end the server the same way.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with suppress(KeyboardInterrupt):
                announce(address)
                if browser:
                    # If the browser runs in the terminal, opening it does not return.
                    threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
                _Server(config, ending).run(sockets=[listener])
        finally:
            signal.signal(signal.SIGTERM, before)
            trouble.removeHandler(handler)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop. A response that is cut off by that is not an error."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._ending()
        super().handle_exit(sig, frame)


class _OneLine(logging.Formatter):
    """What went wrong as one line, without the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        line = record.getMessage().strip()
        if error is not None:
            line = f"{line}: {type(error).__name__}: {error}"
        return visible_text(f"warning: {' '.join(line.split())}")[:400]


def listen(port: int) -> socket.socket:
    """A listening socket on loopback. Port 0 takes any free port."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise MemAuditError(
            f"cannot listen on {HOST} port {port}: {(error.strerror or str(error)).lower()}; "
            "choose another --port, or 0 for any free one"
        ) from None
    return listener

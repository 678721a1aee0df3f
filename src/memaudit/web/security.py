"""The guard before every local page: who may ask, and what the browser may do with the answer."""

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """A secret that nobody guesses, fit for a URL."""
    return secrets.token_urlsafe(32)


class Guard:
    """Lets through what names a loopback host and holds the token; writes come from the page.

    The token comes once in the URL and is exchanged for a cookie. A foreign Host header means that
    a name of somebody else was pointed at this machine; a foreign Origin, that another site asks.
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
        """The answer to a request that must not get through; None lets it through."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not _LOOPBACK.fullmatch(hosts[0]):
            return PlainTextResponse("this server answers to loopback names only\n", 421)
        cookie = cookie_name(request.scope)
        if request.method in _READING and "token" in request.query_params:
            if not self._matches(request.query_params["token"]):
                return PlainTextResponse(_NO_TOKEN, 401)
            # To the same page without the token: it must not stay in the address bar.
            asked = request.query_params.multi_items()
            rest = urlencode([(name, value) for name, value in asked if name != "token"])
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
    """Browsers keep cookies by host, not by port: two servers of one person need two names."""
    return f"memaudit_{(scope.get('server') or ('', 0))[1]}"


def _same_origin(headers: Headers, host: str) -> bool:
    return headers.get("origin", "").lower() == f"http://{host.lower()}"


def _with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return sending

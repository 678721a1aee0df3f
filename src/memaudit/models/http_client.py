"""HTTP/1.1 to one address: a deadline for the whole call, a cap on every byte, nothing followed.

`h11` reads the protocol; sockets, deadlines and caps are ours.

Redirects are not followed and bodies are not unpacked. Of the environment, only the proxy variables
and the certificates (SSL_CERT_FILE, SSL_CERT_DIR) are read.
"""

import base64
import os
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import h11

from memaudit.kernel.errors import MemAuditError

# Far above what servers send. Without limits a server, or whoever sits before it, could fill the
# memory with headers alone.
LARGEST_HEAD = 256 << 10
"""Bytes of the status line and headers, with all interim (1xx) responses before them."""

LARGEST_ERROR = 64 << 10
"""Bytes of the body that are read if the status is not 2xx; the rest is left."""

SMALLEST_CHUNK = 64
"""Bytes that a chunk counts beyond its own: a million chunks of one byte take long to parse."""

PIECE = 64 << 10


class NoConnection(Exception):
    """No connection was made: nothing was sent."""


class BrokenResponse(Exception):
    """The server's bytes are not a usable response. The text quotes nothing of them."""


class TooLarge(Exception):
    """The response is larger than allowed."""


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Mapping[str, str]
    """By lower-case name; the last one counts."""
    body: bytes


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until the end; TimeoutError after it."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _Exchange:
    """A request and its response: every read and write is charged to a deadline, every byte of the
    response to a limit. `h11` knows the protocol and touches no socket."""

    def __init__(self, link: socket.socket, deadline: Deadline) -> None:
        self._link, self._deadline = link, deadline
        # Above our own limit, which is checked before each further piece, with its own message.
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST_HEAD + PIECE)
        self._received = self._limit = self._end = 0
        self._closed = False
        self._allow(LARGEST_HEAD)

    def _allow(self, limit: int) -> None:
        """From what is used so far on, use at most this many bytes."""
        self._limit, self._end = limit, self._used + limit

    @property
    def _used(self) -> int:
        return self._received - len(self._http.trailing_data[0])

    @property
    def is_tunnel(self) -> bool:
        """Whether a proxy switched to the other server and sent nothing itself."""
        switched = self._http.their_state is h11.SWITCHED_PROTOCOL
        return switched and not self._http.trailing_data[0]

    def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> None:
        request = h11.Request(method=method, target=target, headers=list(headers.items()))
        data = b"".join(
            self._http.send(event) or b""
            for event in (request, h11.Data(data=body), h11.EndOfMessage())
        )
        view = memoryview(data)
        while view:
            self._link.settimeout(self._deadline.left())
            view = view[self._link.send(view[:PIECE]) :]

    def _next(self, fault: str) -> object:
        """The next event; what is not HTTP is called by the fault, nothing of it is quoted."""
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError:
                raise BrokenResponse("the response broke off" if self._closed else fault) from None
            waits = event is h11.NEED_DATA
            # What is used is counted only where it matters: that copies what waits to be read.
            if self._received > self._end and (waits or self._used > self._end):
                raise TooLarge(f"the response is larger than {self._limit} bytes")
            if not waits:
                return event
            self._link.settimeout(self._deadline.left())
            data = self._link.recv(PIECE)
            self._received += len(data)
            self._closed = not data
            self._http.receive_data(data)

    def head(self) -> tuple[int, dict[str, str]]:
        """Status and headers; skips interim responses."""
        while True:
            event = self._next("the response is not valid HTTP/1.1")
            if isinstance(event, h11.Response):
                break
            if not isinstance(event, h11.InformationalResponse) or event.status_code == 101:
                raise BrokenResponse("the response changes the protocol")
        if event.http_version not in (b"1.0", b"1.1"):
            raise BrokenResponse("the response is not HTTP/1.1")
        names = ((name.decode("ascii"), value) for name, value in event.headers)
        return event.status_code, {name: value.decode("latin-1") for name, value in names}

    def body(self, headers: Mapping[str, str], limit: int, into: bytearray) -> None:
        """Append the body; chunk sizes and trailers count too, every chunk as some bytes more."""
        packed = headers.get("content-encoding", "").strip().lower()
        if packed not in ("", "identity"):
            raise BrokenResponse("the response is compressed, though no compression was accepted")
        self._allow(limit)
        while isinstance(event := self._next("the response has an invalid body"), h11.Data):
            into += event.data
            if event.chunk_start:
                self._end -= SMALLEST_CHUNK


def _response(exchange: _Exchange, largest: int) -> Response:
    status, headers = exchange.head()
    body = bytearray()
    if 200 <= status < 300:
        exchange.body(headers, largest, body)
    else:  # the status says enough, whatever becomes of the body
        with suppress(BrokenResponse, TooLarge, OSError):
            exchange.body(headers, LARGEST_ERROR, body)
    return Response(status, headers, bytes(body))


@dataclass(frozen=True, slots=True)
class _Proxy:
    host: str
    port: int
    headers: Mapping[str, str] = field(repr=False)
    """Its authorization, if it wants one."""


def _proxy_for(scheme: str, host: str) -> _Proxy | None:
    """The proxy that the environment names; this machine itself is never behind one."""
    # A local model must not be reached through a company's proxy, whatever NO_PROXY says.
    if host == "localhost" or _is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    address = proxies.get(scheme) or proxies.get("all")
    if not address:
        return None
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError
        port = parts.port or 80
    except ValueError:
        raise MemAuditError(
            f"the proxy for {scheme} addresses is not an http:// address; check "
            f"{scheme.upper()}_PROXY and ALL_PROXY, or name the server in NO_PROXY"
        ) from None
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    basic = base64.b64encode(pair.encode()).decode() if pair != ":" else ""
    headers = {"Proxy-Authorization": f"Basic {basic}"} if basic else {}
    return _Proxy(parts.hostname, port, headers)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _certificates() -> ssl.SSLContext:
    """Those of the system and of certifi, or only those that the environment names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # unlike the default, it logs no session keys
    context.load_default_certs()
    if not os.environ.get("SSL_CERT_FILE") and not os.environ.get("SSL_CERT_DIR"):
        try:
            import certifi
        except ModuleNotFoundError:
            return context
        context.load_verify_locations(certifi.where())
    return context


class HttpClient:
    """Posts to paths below one base URL, each over a connection of its own: beside the time that a
    model takes, opening one is nothing. Threads may share it."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._scheme = parts.scheme
        try:
            host = (parts.hostname or "").encode("idna").decode("ascii")
            self._port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            raise MemAuditError(
                "the base URL has an invalid host or port; check base_url"
            ) from None
        self._host = host
        self._netloc = f"[{host}]" if ":" in host else host
        if parts.port:
            self._netloc += f":{parts.port}"
        self._path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~-._")
        self._proxy = _proxy_for(parts.scheme, host)
        self._tls = _certificates() if parts.scheme == "https" else None

    def post(
        self, path: str, headers: Mapping[str, str], body: bytes, seconds: float, largest: int
    ) -> Response:
        """The response, complete within `seconds`; a body of 2xx has at most `largest` bytes."""
        deadline = Deadline(seconds)
        with self._connection(deadline) as link:
            exchange = _Exchange(link, deadline)
            target = f"{self._path}/{path}"
            lines = {
                "Host": self._netloc,
                "Content-Length": str(len(body)),
                "Connection": "close",
                **headers,
            }
            if self._proxy and self._tls is None:
                target = f"{self._scheme}://{self._netloc}{target}"
                lines |= self._proxy.headers
            # A server may answer and close before it has read everything.
            with suppress(BrokenPipeError, ConnectionResetError):
                exchange.send("POST", target, lines, body)
            return _response(exchange, largest)

    def _connection(self, deadline: Deadline) -> socket.socket:
        try:
            return self._connected(deadline)
        except TimeoutError:
            raise NoConnection("no connection in time") from None
        except (OSError, BrokenResponse, TooLarge, UnicodeError) as error:
            raise NoConnection(f"{type(error).__name__} {error}".rstrip()) from None

    def _connected(self, deadline: Deadline) -> socket.socket:
        proxy = self._proxy
        link = _dial(*((proxy.host, proxy.port) if proxy else (self._host, self._port)), deadline)
        if self._tls is None:
            return link
        try:
            if proxy:
                self._tunnel(link, proxy, deadline)
            link.settimeout(deadline.left())
            return self._tls.wrap_socket(link, server_hostname=self._host)
        except BaseException:
            link.close()
            raise

    def _tunnel(self, link: socket.socket, proxy: _Proxy, deadline: Deadline) -> None:
        host = f"[{self._host}]" if ":" in self._host else self._host
        place = f"{host}:{self._port}"
        exchange = _Exchange(link, deadline)
        exchange.send("CONNECT", place, {"Host": place, **proxy.headers})
        status, _ = exchange.head()
        if not exchange.is_tunnel:
            raise BrokenResponse(f"the proxy refuses with HTTP {status}")


def _dial(host: str, port: int, deadline: Deadline) -> socket.socket:
    """A connection to the first address of a host that accepts one."""
    places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    error: OSError = ConnectionError("the host has no address")
    for number, (family, kind, protocol, _, place) in enumerate(places):
        link = socket.socket(family, kind, protocol)
        try:
            link.settimeout(deadline.left() / (len(places) - number))
            link.connect(place)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return link
        except OSError as failed:
            link.close()
            error = failed
    raise error

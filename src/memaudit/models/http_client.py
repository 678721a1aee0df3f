"""HTTP/1.1 to one address: a deadline for the whole call, a cap on every byte, nothing followed.

Redirects are not followed and bodies are not unpacked. Of the environment, only the proxy variables
and the certificates (SSL_CERT_FILE, SSL_CERT_DIR) are read.
"""

import base64
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from memaudit.core.errors import MemAuditError

LARGEST_HEAD = 256 << 10
"""Bytes of the status line and headers, with all interim (1xx) responses before them."""

LARGEST_ERROR = 64 << 10
"""Bytes of the body that are read if the status is not 2xx; the rest is left."""

PIECE = 64 << 10
IDLE = 5.0
"""Seconds after which an unused connection is not used again."""

_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9]\d\d)(?: .*)?", re.DOTALL)
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*", re.DOTALL)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?", re.DOTALL)


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


class _Stream:
    """A connection whose every read and write is charged to a deadline and a number of bytes."""

    def __init__(self, link: socket.socket, deadline: Deadline) -> None:
        self.link, self.deadline = link, deadline
        self.room = 0
        self._limit = 0
        self._buffer = bytearray()

    def allow(self, limit: int) -> None:
        """From here on, use at most this many bytes."""
        self.room = self._limit = limit

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self.link.settimeout(self.deadline.left())
            view = view[self.link.send(view[:PIECE]) :]

    def _receive(self) -> bool:
        self.link.settimeout(self.deadline.left())
        data = self.link.recv(PIECE)
        self._buffer += data
        return bool(data)

    def _take(self, size: int) -> bytes:
        """Take up to `size` bytes from the buffer, within the limit."""
        data = bytes(self._buffer[: min(size, self.room)])
        del self._buffer[: len(data)]
        self.room -= len(data)
        return data

    def _full(self) -> TooLarge:
        return TooLarge(f"the response is larger than {self._limit} bytes")

    def line(self) -> bytes:
        """The next line without its end."""
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > self.room:
                raise self._full()
            if not self._receive():
                raise BrokenResponse("the response broke off")
        if end >= self.room:
            raise self._full()
        return self._take(end + 1).removesuffix(b"\n").removesuffix(b"\r")

    def read(self, size: int | None, into: bytearray) -> None:
        """Append `size` bytes, or all bytes until the server closes."""
        while size is None or size > 0:
            if not self._buffer and not self._receive():
                if size is None:
                    return
                raise BrokenResponse("the response broke off")
            data = self._take(len(self._buffer) if size is None else size)
            if not data:
                raise self._full()
            into += data
            size = None if size is None else size - len(data)

    @property
    def is_clean(self) -> bool:
        """Whether the server sent nothing beyond what was used."""
        return not self._buffer


def _head(stream: _Stream) -> tuple[int, dict[str, str], bool]:
    """Status, headers, and whether the connection may be used again; skips interim responses."""
    stream.allow(LARGEST_HEAD)
    while True:
        found = _STATUS.fullmatch(stream.line())
        if found is None:
            raise BrokenResponse("the response is not HTTP/1.1")
        minor, status = int(found[1]), int(found[2])
        headers: dict[str, str] = {}
        while line := stream.line():
            header = _HEADER.fullmatch(line)
            if header is None:
                raise BrokenResponse("the response has an invalid header")
            name, value = header[1].decode("ascii").lower(), header[2].decode("latin-1")
            if name == "content-length" and headers.get(name, value) != value:
                raise BrokenResponse("the response has two lengths")
            headers[name] = value
        if status == 101:
            raise BrokenResponse("the response changes the protocol")
        if status >= 200:
            words = headers.get("connection", "" if minor else "close").lower()
            return status, headers, "close" not in words


def _body(stream: _Stream, headers: Mapping[str, str], into: bytearray) -> bool:
    """Append the body. Whether its end was announced, so that another response may follow."""
    packed = headers.get("content-encoding", "").strip().lower()
    if packed not in ("", "identity"):
        raise BrokenResponse("the response is compressed, though no compression was accepted")
    coding = headers.get("transfer-encoding", "").strip().lower()
    if coding == "chunked":
        while size := _chunk_size(stream.line()):
            stream.read(size, into)
            if stream.line():
                raise BrokenResponse("the response has an invalid chunk")
        while stream.line():
            """Trailers say nothing that we need."""
        return "content-length" not in headers
    if coding not in ("", "identity"):
        raise BrokenResponse("the response has an unknown transfer encoding")
    length = headers.get("content-length")
    if length is None:
        stream.read(None, into)
        return False
    if not length.isascii() or not length.isdigit() or len(length) > 15:
        raise BrokenResponse("the response has an invalid length")
    stream.read(int(length), into)
    return True


def _chunk_size(line: bytes) -> int:
    found = _CHUNK.fullmatch(line)
    if found is None:
        raise BrokenResponse("the response has an invalid chunk")
    return int(found[1], 16)


def _response(stream: _Stream, largest: int) -> tuple[Response, bool]:
    """The response, and whether the connection may be used again."""
    status, headers, reusable = _head(stream)
    body = bytearray()
    if status in (204, 304):
        return Response(status, headers, b""), reusable and stream.is_clean
    if 200 <= status < 300:
        stream.allow(largest)
        reusable &= _body(stream, headers, body)
    else:  # the status says enough, whatever becomes of the body
        stream.allow(LARGEST_ERROR)
        try:
            reusable &= _body(stream, headers, body)
        except (BrokenResponse, TooLarge, OSError):
            reusable = False
    return Response(status, headers, bytes(body)), reusable and stream.is_clean


@dataclass(frozen=True, slots=True)
class _Proxy:
    host: str
    port: int
    authorization: str = field(repr=False)


def _proxy_for(scheme: str, host: str) -> _Proxy | None:
    """The proxy that the environment names; this machine itself is never behind one."""
    if host == "localhost" or _is_loopback(host) or proxy_bypass(host):
        return None
    known = getproxies()
    address = known.get(scheme) or known.get("all")
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
    line = f"Proxy-Authorization: Basic {basic}\r\n" if basic else ""
    return _Proxy(parts.hostname, port, line)


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
    """Posts to paths below one base URL. Threads may share it; connections are used again."""

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
        self._lock = threading.Lock()
        self._idle: list[tuple[socket.socket, float]] = []

    def post(
        self, path: str, headers: Mapping[str, str], body: bytes, seconds: float, largest: int
    ) -> Response:
        """The response, complete within `seconds`; a body of 2xx has at most `largest` bytes."""
        deadline = Deadline(seconds)
        link = self._connection(deadline)
        keep = False
        try:
            stream = _Stream(link, deadline)
            try:
                stream.send(self._request(path, headers, body) + body)
            except (BrokenPipeError, ConnectionResetError):
                """A server may answer and close before it has read everything."""
            response, keep = _response(stream, largest)
            return response
        finally:
            if keep:
                with self._lock:
                    self._idle.append((link, time.monotonic()))
            else:
                link.close()

    def _request(self, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        target = f"{self._path}/{path}"
        extra = ""
        if self._proxy and self._tls is None:
            target = f"{self._scheme}://{self._netloc}{target}"
            extra = self._proxy.authorization
        lines = {"Host": self._netloc, "Content-Length": str(len(body)), **headers}
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"POST {target} HTTP/1.1\r\n{text}{extra}\r\n".encode("ascii")

    def _connection(self, deadline: Deadline) -> socket.socket:
        """An idle connection that the server has not closed, or a new one."""
        while True:
            with self._lock:
                if not self._idle:
                    break
                link, since = self._idle.pop()
            if time.monotonic() - since < IDLE and _is_silent(link):
                return link
            link.close()
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
        stream = _Stream(link, deadline)
        stream.send(
            f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{proxy.authorization}\r\n".encode(
                "ascii"
            )
        )
        status, _, _ = _head(stream)
        if not 200 <= status < 300 or not stream.is_clean:
            raise BrokenResponse(f"the proxy refuses with HTTP {status}")


def _is_silent(link: socket.socket) -> bool:
    """Whether an idle connection is open and holds no bytes that nobody asked for."""
    link.settimeout(0)
    try:
        link.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False
    return False


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

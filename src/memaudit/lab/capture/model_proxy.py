"""The model as a system sees it: a loopback server that answers from a record or asks the real one.

The system's process gets this address and a token of this run, never the key. Replies are sent as
they are recorded, so that a replay gives the system the same bytes.
"""

import json
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from memaudit.kernel.words.text import shortened
from memaudit.models.http_client import BrokenResponse, HttpClient, NoConnection, TooLarge
from memaudit.models.record import Call, Record, RecordFile
from memaudit.models.secret import HIDDEN, Secret

LARGEST_REQUEST, LARGEST_REPLY = 32 << 20, 32 << 20
MOST_CONNECTIONS = 64
TEXT = "text_of_the_reply"
"""Stands for a reply that is not JSON."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """The real model: where it is, its key, and how long a call may take."""

    client: HttpClient
    key: Secret
    seconds: float
    counts_tokens: bool = True
    """Whether the token counts that it reports are its own."""


class ModelProxy:
    """Answers the requests of one system. `missed` says what a replay did not find."""

    def __init__(self, record: Record, file: RecordFile | None, upstream: Upstream | None) -> None:
        self.record, self.file, self.upstream = record, file, upstream
        self.token = secrets.token_urlsafe(32)
        self.missed = ""
        self.last_sign = time.monotonic()
        self.calls: list[Call] = []
        """Those of the feeding that is under way."""
        self._example, self._place = "", 0
        self._lock = threading.Lock()
        self._server = _Server(self)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def begin(self, example: str, place: int) -> None:
        """Count what follows for this feeding; place 0 begins the example."""
        with self._lock:
            if place == 0:
                self.record.begin(example)
            self._example, self._place, self.calls = example, place, []

    def answer(self, path: str, request: dict[str, Any]) -> tuple[int, Any, str]:
        """Status, reply and `Retry-After`."""
        self.last_sign = time.monotonic()
        with self._lock:
            example, place = self._example, self._place
            found = self.record.next_reply(example, path, request)
            # A recorded failure is repeated only where no model can be asked: live, it is worth a
            # try.
            if found is not None and (found.status < 300 or self.upstream is None):
                self.calls.append(found)
                return found.status, found.reply, ""
            if self.upstream is None:
                # The first miss explains the others: every later request depends on the answer to
                # it.
                self.missed = self.missed or self.record.nearest(example, path, request)
                return 400, _error("this request is not in the record"), ""
        status, reply, pause = self._ask(self.upstream, path, request)
        tokens = _tokens(reply) if self.upstream.counts_tokens and status < 300 else (None, None)
        call = Call(example, place, path, request, status, reply, *tokens)
        with self._lock:
            self.calls.append(call)
            if self.file is not None:
                self.file.keep(call)
        self.last_sign = time.monotonic()
        return status, reply, pause

    def _ask(self, upstream: Upstream, path: str, request: dict[str, Any]) -> tuple[int, Any, str]:
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": "memaudit",
        }
        if upstream.key:
            headers["Authorization"] = f"Bearer {upstream.key.reveal()}"
        body = json.dumps(request).encode("ascii")
        try:
            answer = upstream.client.post(path, headers, body, upstream.seconds, LARGEST_REPLY)
        except (NoConnection, BrokenResponse, TooLarge, OSError) as error:
            said = upstream.key.hidden_in_message(str(error) or type(error).__name__)
            return 502, _error(f"the model could not be asked: {said}"), ""
        text = answer.body.decode("utf-8", "replace")
        hide = upstream.key.hidden_in if answer.status < 300 else upstream.key.hidden_in_message
        text = hide(text)
        if text == HIDDEN:
            return 502, _error("the model's reply holds the key"), ""
        # Following it would send the key to an address that nobody named.
        if 300 <= answer.status < 400:
            return 502, _error("the model's address redirects; give --base-url the other one"), ""
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError):
            reply = {TEXT: text, "type": answer.headers.get("content-type", "text/plain")}
        return answer.status, reply, answer.headers.get("retry-after", "")


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "memaudit", "code": None}}


def _tokens(reply: Any) -> tuple[int | None, int | None]:
    """What the provider says was read and written."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return None, None

    def number(*names: str) -> int | None:
        found = [usage.get(name) for name in names]
        return next((count for count in found if type(count) is int and count >= 0), None)

    return number("prompt_tokens", "input_tokens"), number("completion_tokens", "output_tokens")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, proxy: ModelProxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy
        self.room = threading.Semaphore(MOST_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Anybody on the machine can connect: those above the limit are turned away."""
        if self.room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.room.release()

    def handle_error(self, *_: object) -> None:
        """A system that hangs up, or was killed, is no news here."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 20
    """Seconds for the next piece of a request, and for an idle connection."""

    def do_POST(self) -> None:
        proxy = self.server.proxy
        given = self.headers.get("Authorization", "")
        # Before the body is read: strangers on the machine must not fill memory or the record.
        if not secrets.compare_digest(given.encode(), f"Bearer {proxy.token}".encode()):
            self.close_connection = True
            return self._send(401, _error("no token of this run"))
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST_REQUEST:
            self.close_connection = True
            return self._send(413, _error("a request without a length, or of too many bytes"))
        path = self.path.partition("?")[0].removeprefix("/v1/").strip("/")
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            request = None
        if not isinstance(request, dict):
            return self._send(400, _error("the request is not a JSON object"))
        status, reply, pause = proxy.answer(path, request)
        return self._send(status, reply, {"Retry-After": pause} if pause else {})

    def do_GET(self) -> None:
        self._send(404, _error("only model calls are passed on"))

    def _send(self, status: int, reply: Any, headers: Mapping[str, str] = {}) -> None:
        if isinstance(reply, dict) and set(reply) == {TEXT, "type"}:
            data, kind = str(reply[TEXT]).encode(), str(reply["type"])
        else:
            data, kind = json.dumps(reply).encode(), "application/json"
        self.send_response(status)
        self.send_header("Content-Type", shortened(kind.replace("\n", " "), 80))
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value.splitlines()[0][:40])
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """What is asked stands in the record."""

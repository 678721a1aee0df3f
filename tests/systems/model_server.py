"""An OpenAI-compatible server on the loopback, run by `rules`; it remembers what it was sent."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.systems import rules


class ModelServer(ThreadingHTTPServer):
    """Every request in order. A chat that mentions `hold` waits, the first that mention `refuse`
    fail, as many as `refusals`; a text that mentions `no_vector` is not embedded."""

    daemon_threads = True
    refuse = ""
    refusals = 1
    hold = ""
    no_vector = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.keys: set[str | None] = set()
        self.faults: list[BaseException | None] = []
        self.held, self.released = threading.Event(), threading.Event()

    def handle_error(self, *_: object) -> None:
        """A rule that breaks must fail the test, not look like a model that is down."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError):  # a killed client is no fault of ours
            self.faults.append(error)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def chats(self) -> list[str]:
        return [json.dumps(body) for path, body in self.seen if path.endswith("/chat/completions")]


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        server.seen.append((self.path, body))
        server.keys.add(self.headers["Authorization"])
        if self.path.endswith("/embeddings"):
            if server.no_vector and server.no_vector in json.dumps(body["input"]):
                return self._send(400, {"error": {"message": "no vector", "code": None}})
            return self._send(200, _embeddings(body))
        said = json.dumps(body["messages"])
        if server.hold and server.hold in said:
            server.held.set()
            server.released.wait(60)
        if server.refuse and server.refuse in said and server.refusals > 0:
            server.refusals -= 1
            key = self.headers["Authorization"]
            return self._send(400, {"error": {"message": f"no answer for {key}", "code": None}})
        message = rules.reply(body)
        size = len(json.dumps(body)) // 4  # about what a tokenizer would say: Letta acts on it
        done = "tool_calls" if message.get("tool_calls") else "stop"
        return self._send(200, {
            "id": "chat", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": done}],
            "usage": {"prompt_tokens": size, "completion_tokens": 1, "total_tokens": size + 1},
        })  # fmt: skip

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Quiet."""


def _embeddings(body: dict[str, Any]) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = [
        {"object": "embedding", "index": at, "embedding": rules.vector(text)}
        for at, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


@contextmanager
def serving() -> Iterator[ModelServer]:
    with ModelServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()
        assert server.faults == []

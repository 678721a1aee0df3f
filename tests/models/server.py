"""A real HTTP server that speaks chat completions, and misbehaves on demand."""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@dataclass
class Served:
    """What reached the server, and where it listens."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


def send(
    handler: BaseHTTPRequestHandler,
    status: int,
    data: object,
    headers: dict[str, str] | None = None,
) -> None:
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def completion(content: object, **more: object) -> dict[str, Any]:
    """A chat completion of 10 prompt and 5 reply tokens."""
    message = {"role": "assistant", "content": content, "refusal": more.pop("refusal", None)}
    finish = more.pop("finish_reason", "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "served-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        **more,
    }


def says(content: object, **more: object) -> Behaviour:
    data = completion(content, **more)
    return lambda handler, _: send(handler, 200, data)


def fails(status: int, message: str = "no", code: str | None = None, **headers: str) -> Behaviour:
    error = {"error": {"message": message, "type": "some_error", "code": code}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, _: send(handler, status, error, named)


def raw(body: bytes) -> Behaviour:
    return lambda handler, _: send(handler, 200, body)


def breaks_off(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    linger = struct.pack("ii", 1, 0)  # closing with this set sends a reset
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.connection.close()


@contextmanager
def serving(*script: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[Served]:
    """A server that follows the script, call by call; the last behaviour repeats."""
    served = Served()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                served.bodies.append({"path": self.path, **body})
                served.headers.append({name.lower(): text for name, text in self.headers.items()})
                behaviour = script[min(len(served.bodies), len(script)) - 1]
            behaviour(self, body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that went away is part of the test."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""Bytes that are no HTTP, and requests that stop half-way: the server goes on, without a word."""

import errno
import json
import socket
from pathlib import Path

import pytest

from tests.lab.labels.annotate.small_frames import Served, frame_folder, served

pytestmark = pytest.mark.slow

REQUEST = "GET /resume HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: memaudit_{port}={token}\r\n"
POST = (
    "POST /decisions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: memaudit_{port}={token}\r\n"
    "Origin: http://127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
)
LET_GO = {errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN}  # the server was quicker than we were
BODY = json.dumps({"position": 1, "label": "full", "note": ""})

RAW: dict[str, str | bytes] = {
    "nothing": b"",
    "no HTTP": b"\0\x01\x02 hello \xff\xfe\r\n\r\n",
    "TLS": bytes.fromhex("16030100a5010000a10303") + b"\x11" * 160,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n",
    "SOCKS": b"\x05\x01\x00",
    "endless first line": b"GET /" + b"a" * 300_000,
    "endless header": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 300_000,
    "many headers": b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: y\r\n" % n for n in range(20_000)),
    "path of bytes": b"GET /\xff\xfe\0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "long number": "GET /cells/" + "9" * 5000 + REQUEST.partition(" /resume")[2] + "\r\n",
    "half a request": REQUEST,
    "half a body": POST + "Content-Length: 500\r\n\r\n{{",
    "body shorter than said": POST
    + f"Content-Length: {len(BODY) + 9}\r\n\r\n"
    + BODY.replace("{", "{{").replace("}", "}}"),
    "negative length": POST + "Content-Length: -5\r\n\r\n",
    "two lengths": POST + "Content-Length: 5\r\nContent-Length: 50\r\n\r\n12345",
    "length and chunks": POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks that are none": POST + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
    "endless chunk": POST + "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\nhello",
    "too long a body": POST + "Content-Length: 99999999\r\n\r\n" + "x" * 400_000,
    "websocket": REQUEST + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
    "\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    "waits for a word": POST + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n",
    "two hosts": "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil\r\n\r\n",
    "folded header": "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n evil\r\n\r\n",
    "absolute address": "GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n",
    "connect": "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "pipelined": (REQUEST + "\r\n") * 50,
}


def thrown(server: Served, raw: str | bytes) -> bytes:
    """Send bytes, say that no more come, and read what comes back until the server lets go."""
    data = (
        raw
        if isinstance(raw, bytes)
        else raw.format(port=server.port, token=server.token).encode("latin-1")
    )
    answer = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as link:
        try:
            link.sendall(data)
            link.shutdown(socket.SHUT_WR)
            while piece := link.recv(1 << 16):
                answer += piece
        except OSError as error:
            if error.errno not in LET_GO:
                raise
    return answer


def test_thrown_bytes(tmp_path: Path) -> None:
    """Every answer is a refusal or a view, no label is written, and nothing is complained of."""
    with served(frame_folder(tmp_path / "frame", 5), "ann") as server:
        for name, raw in RAW.items():
            answer = thrown(server, raw)
            assert b"Traceback" not in answer, name
            assert not answer.startswith(b"HTTP/1.1 5"), (name, answer[:300])
            status, _, body = server.get("/resume")
            assert status == 200, name
            assert json.loads(body)["progress"]["done"] == 0, name
        code, _, complaint = server.interrupt()
    assert (code, complaint) == (0, "")

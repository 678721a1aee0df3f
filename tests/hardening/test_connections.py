"""Connections that never end, ask for too much, read nothing or speak no HTTP."""

import errno
import json
import re
import resource
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memaudit.kernel.io.packages import write_package
from memaudit.lab.sweeps.generators.registry import named_distribution
from tests.lab.labels.annotate.small_frames import Served, frame_folder, served

pytestmark = pytest.mark.slow

START = "GET / HTTP/1.1\r\n"
HALF = f"{START}Host: 127.0.0.1\r\nX: ".encode()
WHOLE = f"{START}Host: 127.0.0.1\r\n\r\n".encode()
POST = "POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n"
CROWD = 1100
"""More than the 1,024 files that a process may open by default."""


@pytest.fixture(scope="module", autouse=True)
def many_files() -> Iterator[None]:
    """The crowd itself needs more files than usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(2 * CROWD, hard)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def explorer(folder: Path) -> list[str]:
    write_package(named_distribution("base").package(1), folder / "p.json")
    return ["serve", str(folder)]


def annotator(folder: Path) -> list[str]:
    return ["label", "annotate", str(frame_folder(folder / "frame", 5)), "--annotator", "ann"]


EVERY = pytest.mark.parametrize("command", [explorer, annotator], ids=["explorer", "annotator"])
Command = Callable[[Path], list[str]]


@contextmanager
def serving(command: list[str], **limits: int) -> Iterator[Served]:
    """The command in a process that may open 1,024 files; `limits` are shorter than usual."""
    lines = [
        "import resource",
        "from memaudit.lab import serving",
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]",
        "resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))",
        *(f"serving.{name} = {value}" for name, value in limits.items()),
        "from memaudit.cli.main import main",
        "main()",
    ]
    with serving_script("\n".join(lines), *command, "--no-browser") as server:
        yield server


@contextmanager
def serving_script(*arguments: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-c", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        first, address = process.stdout.readline(), process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.communicate()
        yield Served(process, address, first.strip())
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@contextmanager
def crowd(server: Served, number: int, said: bytes) -> Iterator[list[socket.socket]]:
    links = []
    try:
        for _ in range(number):
            links.append(socket.create_connection(("127.0.0.1", server.port), timeout=20))
            links[-1].sendall(said)
        yield links
    finally:
        for link in links:
            link.close()


def is_closed(link: socket.socket, within: float) -> bool:
    """Whether the server lets go in time; what it says before is read."""
    until = time.monotonic() + within
    while (left := until - time.monotonic()) > 0:
        if select.select([link], [], [], left)[0]:
            try:
                if not link.recv(1 << 16):
                    return True
            except OSError:
                return True
    return False


def cookie(server: Served) -> str:
    return f"Cookie: memaudit_{server.port}={server.token}\r\n"


def files_of(server: Served) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def ended(server: Served) -> list[str]:
    """The lines on stderr, once the server stopped as it should."""
    code, _, complaint = server.interrupt()
    assert code == 0
    return complaint.splitlines()


@EVERY
@pytest.mark.parametrize("said", [b"", HALF, WHOLE], ids=["nothing", "half", "without token"])
def test_a_crowd_of_strangers(tmp_path: Path, command: Command, said: bytes) -> None:
    """The user is answered at once while they hold on and come back; one line tells of it."""
    with serving(command(tmp_path)) as server, crowd(server, CROWD, said):
        slowest = 0.0
        for _ in range(20):
            with crowd(server, 20, said):
                start = time.monotonic()
                assert server.get("/")[0] == 200
                slowest = max(slowest, time.monotonic() - start)
        assert slowest < 5
        assert files_of(server) < 300
        (line,) = ended(server)
    assert line == (
        "warning: more than 128 connections at once: surplus ones are closed, those without the "
        "token first"
    )


@EVERY
def test_the_users_connection_is_kept(tmp_path: Path, command: Command) -> None:
    with serving(command(tmp_path)) as server:
        own = f"{START}Host: 127.0.0.1:{server.port}\r\n{cookie(server)}\r\n".encode()
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as link:
            for _ in range(4):
                link.sendall(own)
                answer = b""
                while b"</html>" not in answer:
                    piece = link.recv(1 << 16)
                    assert piece, answer
                    answer += piece
                assert answer.startswith(b"HTTP/1.1 200")
                with crowd(server, 300, HALF):
                    pass


def trickle(link: socket.socket, piece: bytes, within: float) -> bool:
    """Send a piece every 0.2 seconds; whether the server lets go in time."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            link.sendall(piece)
            if is_closed(link, 0.2):
                return True
        except OSError:
            return True
    return False


@EVERY
def test_slow_heads_and_bodies(tmp_path: Path, command: Command) -> None:
    """The limit is for the whole, however regularly a little comes; also of the user's own."""
    with serving(command(tmp_path), HEAD_SECONDS=2, BODY_SECONDS=2) as server:
        path = "/decisions" if command is annotator else "/verify"
        post = POST.format(path, server.port)
        own = f"{cookie(server)}Origin: {server.origin}\r\n"
        for start, piece in (
            ("", b""),
            (HALF.decode(), b"y"),
            (f"{post}Content-Length: 5000\r\n\r\n", b" "),
            (f"{post}{own}Content-Length: 3000\r\n\r\n", b" "),
            (f"{post}{own}Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        ):
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as link:
                link.sendall(start.encode())
                assert trickle(link, piece, 6), start
        assert server.get("/")[0] == 200
        assert sorted(ended(server)) == [
            "warning: a connection was closed: its body took more than 2 seconds",
            "warning: a connection was closed: its head took more than 2 seconds",
        ]


def sent_until_closed(link: socket.socket, piece: bytes) -> int:
    """Bytes sent until the other side closes, or takes no more for as long as the link waits."""
    for count in range((1 << 27) // len(piece)):
        try:
            link.sendall(piece)
        except OSError:
            return count * len(piece)
    return 1 << 27


@EVERY
def test_endless_bodies(tmp_path: Path, command: Command) -> None:
    """With and without the token: refused, read for a while, then cut off; memory stays small."""
    with serving(command(tmp_path)) as server:
        path = "/decisions" if command is annotator else "/verify"
        for own in ("", f"{cookie(server)}Origin: {server.origin}\r\n"):
            head = f"{POST.format(path, server.port)}{own}Content-Length: 9999999999\r\n\r\n"
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as link:
                link.sendall(head.encode())
                # More than the limit: what the system holds back for both sides counts as well.
                assert sent_until_closed(link, b" " * (1 << 16)) < 1 << 25
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        assert int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) < 500_000
        assert server.get("/")[0] == 200
        assert ended(server) == ["warning: a request of more than 4194304 bytes was cut off"]


@EVERY
def test_readers_who_do_not_read(tmp_path: Path, command: Command) -> None:
    """Replies that nobody takes: pipelined by a stranger, and a long one of the user's own."""
    with serving(command(tmp_path), REPLY_SECONDS=2) as server:
        own = f"{START}Host: 127.0.0.1:{server.port}\r\n{cookie(server)}\r\n".encode()
        for asked in (WHOLE, own):
            with socket.socket() as link:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                link.settimeout(1)
                link.connect(("127.0.0.1", server.port))
                sent_until_closed(link, asked * 100)
                link.settimeout(10)
                time.sleep(5)
                assert is_closed(link, 5)
        assert server.get("/")[0] == 200
        assert ended(server) == [
            "warning: a connection was closed: its reply took more than 2 seconds"
        ]


FAULTY = """
from memaudit.lab.serving import serve
async def app(scope, receive, send):
    raise KeyError("first line\\nsecond line")
serve(app, 0, lambda address: print("faulty", address, sep="\\n", flush=True), False)
"""


def test_a_fault_of_ours_is_one_line() -> None:
    with serving_script(FAULTY) as server:
        assert [server.get("/")[0] for _ in range(3)] == [500] * 3
        (line,) = ended(server)
    assert re.fullmatch(r"warning: Exception in ASGI application: KeyError in app:4: .*", line)
    assert len(line) < 200


REQUEST = "GET /resume HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: memaudit_{port}={token}\r\n"
DECISION = (
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
    "half a body": DECISION + "Content-Length: 500\r\n\r\n{{",
    "body shorter than said": DECISION
    + f"Content-Length: {len(BODY) + 9}\r\n\r\n"
    + BODY.replace("{", "{{").replace("}", "}}"),
    "negative length": DECISION + "Content-Length: -5\r\n\r\n",
    "two lengths": DECISION + "Content-Length: 5\r\nContent-Length: 50\r\n\r\n12345",
    "length and chunks": DECISION
    + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks that are none": DECISION + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n",
    "endless chunk": DECISION + "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\nhello",
    "too long a body": DECISION + "Content-Length: 99999999\r\n\r\n" + "x" * 400_000,
    "websocket": REQUEST + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
    "\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    "waits for a word": DECISION + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n",
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

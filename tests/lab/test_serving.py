"""The server: loopback only, one line when the port cannot be had, one line for a fault of ours."""

import re
import socket
import subprocess
import sys
from contextlib import closing

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.serving import listen
from tests.lab.labels.annotate.small_frames import Served


def test_it_listens_on_loopback() -> None:
    """Any free port, on 127.0.0.1 and nowhere else."""
    with listen(0) as listener:
        host, port = listener.getsockname()
        assert host == "127.0.0.1"
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=5)


def test_a_port_in_use() -> None:
    with listen(0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(MemAuditError) as caught:
            listen(port)
    assert str(caught.value) == (
        f"cannot listen on 127.0.0.1 port {port}: address already in use; "
        "choose another --port, or 0 for any free one"
    )


FAULTY = """
from memaudit.lab.serving import serve
async def app(scope, receive, send):
    raise KeyError("first line\\nsecond line")
serve(app, 0, lambda address: print("faulty", address, sep="\\n", flush=True), False)
"""


def test_a_fault_of_ours_is_one_line() -> None:
    """No traceback, also from many connections, and the server goes on."""
    command = [sys.executable, "-c", FAULTY]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    assert process.stdout is not None
    first, address = process.stdout.readline(), process.stdout.readline().strip()
    server = Served(process, address, first.strip())
    try:
        with closing(socket.create_connection(("127.0.0.1", server.port))) as link:
            link.sendall(b"no HTTP at all\r\n\r\n")
            assert [server.get("/")[0] for _ in range(2)] == [500] * 2
        code, _, complaint = server.interrupt()
    finally:
        process.kill()
    assert code == 0
    for line in complaint.splitlines():
        assert re.fullmatch(r"warning: Exception in ASGI application: KeyError: .*", line)

"""The server's socket: loopback only, and one line when it cannot be had."""

import socket

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.serving import listen


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

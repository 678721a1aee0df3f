"""Serve a local page until Ctrl-C: on loopback only, behind a fresh token."""

import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from memaudit.core.errors import MemAuditError
from memaudit.web.security import Guard, new_token

HOST = "127.0.0.1"
GRACE = 2
"""Seconds that answers under way may take once the server is told to end."""


def serve(app: ASGIApp, port: int, announce: Callable[[str], None], browser: bool) -> None:
    """Serve until Ctrl-C or SIGTERM; `announce` gets the address once it answers."""
    token = new_token()
    with listen(port) as listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}/?token={token}"
        config = uvicorn.Config(
            Guard(app, token), lifespan="off", log_config=None, log_level="warning",
            access_log=False, server_header=False, proxy_headers=False, ws="none",
            timeout_graceful_shutdown=GRACE,
        )  # fmt: skip
        # uvicorn raises the signal again after it shut down: both then end the server the same way.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with suppress(KeyboardInterrupt):
                announce(address)
                if browser:
                    # Where the browser runs in the terminal, opening it does not return.
                    threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
                uvicorn.Server(config).run(sockets=[listener])
        finally:
            signal.signal(signal.SIGTERM, before)


def listen(port: int) -> socket.socket:
    """A listening socket on loopback; port 0 takes any free one."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise MemAuditError(
            f"cannot listen on {HOST} port {port}: {(error.strerror or str(error)).lower()}; "
            "choose another --port, or 0 for any free one"
        ) from None
    return listener

"""Serve a local page until Ctrl-C: on loopback only, behind a fresh token."""

import logging
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from memaudit.core.errors import MemAuditError
from memaudit.web.security import POLICY, Guard, new_token

HOST = "127.0.0.1"
GRACE = 2
"""Seconds that answers under way may take once the server is told to end."""


def serve(
    app: ASGIApp,
    port: int,
    announce: Callable[[str], None],
    browser: bool,
    policy: str = POLICY,
    ending: Callable[[], None] = lambda: None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; `announce` gets the address once it answers.

    `ending` is called when the server is told to end: work under way should not outlast it.
    """
    token = new_token()
    with listen(port) as listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}/?token={token}"
        config = uvicorn.Config(
            Guard(app, token, policy), lifespan="off", log_config=None, log_level="error",
            access_log=False, server_header=False, proxy_headers=False, ws="none",
            timeout_graceful_shutdown=GRACE,
        )  # fmt: skip

        def told() -> None:
            announce(address)
            if browser:
                # Where the browser runs in the terminal, opening it does not return.
                threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()

        # uvicorn raises the signal again after it shut down: both then end the server the same way.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with suppress(KeyboardInterrupt):
                _Server(config, told, ending).run(sockets=[listener])
        finally:
            signal.signal(signal.SIGTERM, before)


class _Server(uvicorn.Server):
    """Tells when it answers; from then on a signal ends it in order."""

    def __init__(
        self, config: uvicorn.Config, told: Callable[[], None], ending: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._told = told
        self._ending = ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets=sockets)
        self._told()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End; an answer that is cut off by that is no news to whoever ended it."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self._ending()
        super().handle_exit(sig, frame)


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

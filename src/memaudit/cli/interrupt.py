"""Ctrl-C while solving: the solver stops with what it has, and we learn that it happened."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from memaudit.solvers.protocol import STOP


@contextmanager
def watched() -> Iterator[threading.Event]:
    """An event that is set at the first Ctrl-C, which is raised as ever.

    Where the exception gets lost, in a callback of the compiler say, solvers stop all the same.
    """
    pressed = threading.Event()

    def press(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        pressed.set()
        STOP.set()
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield pressed  # only the main thread may watch signals
        return
    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
        STOP.clear()

"""A child process that ends with its parent, even one that was killed and could tell nobody."""

import os
import threading
import time
from collections.abc import Callable

SECONDS = 0.5
"""Between two looks at the parent."""


def end_with_parent(parent: int, at_end: Callable[[], None] = lambda: None) -> None:
    """End this process soon after the process `parent`, which started it, is gone.

    `at_end` is called before that. The parent passes its own id: it may be gone by now.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS)
        try:
            at_end()
        finally:
            os._exit(1)

    threading.Thread(target=watch, daemon=True, name="parent watch").start()

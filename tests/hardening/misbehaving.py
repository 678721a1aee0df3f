"""Readers that do what none may do: the box must notice each of them."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from memaudit.core.errors import InvalidPackage, Problem


def _raise(error: Exception) -> None:
    raise error


MISBEHAVING: dict[str, Callable[..., object]] = {
    "traceback": lambda _: _raise(KeyError("x")),
    "waits": lambda _: time.sleep(600),
    "dies": lambda _: os.abort(),
    "grows": lambda _: [bytes(100 << 20) for _ in range(40)],
    "reads-elsewhere": lambda _: Path("/etc/passwd").read_bytes(),
    "climbs": lambda path: (path.parent / ".." / "escaped").touch(),
    "runs-code": lambda _: os.system("true"),
    "leaves": lambda path: (path.parents[1] / "out" / ".x.new-part").touch(),
    "fine": lambda _: _raise(InvalidPackage([Problem("wrong"), Problem("worse")])),
}
"""By name; `fine` is an honest refusal."""

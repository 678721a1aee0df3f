"""What takes long to make is made by one process of a parallel run, and read by all."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder that `make` makes, of this whole test run; the others wait until it is there."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # each worker has a folder of its own below it
    folder = shared / name
    folder.parent.mkdir(exist_ok=True)
    finished = folder.with_suffix(".finished")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            make(folder)
            finished.touch()
    return folder

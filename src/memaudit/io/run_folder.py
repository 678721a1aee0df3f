"""A folder that one process at a time may work in."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memaudit.core.errors import MemAuditError

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if need be and hold it; another process that holds it is an error.

    The lock goes with the process: a killed one leaves nothing to clean up.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK).open("ab")
    except OSError as error:
        raise MemAuditError(f"cannot make {folder}: {error.strerror or error}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise MemAuditError(
                f"{folder} is being written by another run; wait for it or choose another folder"
            ) from None
        yield

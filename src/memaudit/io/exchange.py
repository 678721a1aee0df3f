"""Two paths change places in one step, where the system can."""

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD = -100
_EXCHANGE = 2
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}


def exchange(one: Path, other: Path) -> bool:
    """Let two existing paths change places; False where system or file system has no such step."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), str(other))

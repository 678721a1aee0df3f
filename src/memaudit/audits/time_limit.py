"""A time limit for solvers, checked at the door."""

import math

from memaudit.core.errors import MemAuditError


def checked_seconds(seconds: float | None) -> float | None:
    """The limit of `--seconds`; nothing that is no time."""
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise MemAuditError(f"--seconds {seconds:g} is no time limit; give a number above 0")
    return seconds

"""Times as memory systems write them, to ISO 8601 text that sorts as time does."""

import re
from datetime import UTC, datetime

from memaudit.datasets.when import iso

_COMPACT = re.compile(r"[0-9]{12}(?:[0-9]{2})?")
_SECONDS = range(10**8, 10**11)
"""From 1973 to 5138; larger whole numbers are milliseconds."""


def moment(value: object) -> str | None:
    """The time, in UTC where it has an offset; None where it is none we know."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        text = value.strip()
        return _compact(text) if _COMPACT.fullmatch(text) else iso(text)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    seconds = value if value in _SECONDS else value // 1000
    if seconds not in _SECONDS:
        return None
    return iso(datetime.fromtimestamp(seconds, UTC).isoformat())


def _compact(text: str) -> str | None:
    """A-Mem's `202603011200`."""
    try:
        return iso(
            datetime.strptime(text, "%Y%m%d%H%M%S"[: 10 if len(text) == 12 else 12]).isoformat()
        )
    except ValueError:
        return None

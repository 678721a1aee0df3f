"""Turns of a conversation by digest: whether what a system was fed is what a package is about.

A turn is compared line by line, white space collapsed, so that it does not matter how turns were
joined into messages. Of a line that was fed, a date in brackets and a speaker may have been added
in front: the line is kept with and without them.
"""

import hashlib
import re

_DATE = re.compile(r"^\[[^\]]{1,80}\]\s*")
_SPEAKER = re.compile(r"^[^:\n]{1,60}:\s+")


def turn_digests(text: str) -> tuple[str, ...]:
    """The digest of every line that is not blank."""
    return tuple(_digest(line) for line in _lines(text))


def fed_digests(message: str) -> list[list[str]]:
    """For every line of a message, its digests with and without an added date and speaker."""
    return [list(dict.fromkeys(map(_digest, _readings(line)))) for line in _lines(message)]


def _readings(line: str) -> list[str]:
    readings = [line]
    for added in (_DATE, _SPEAKER, _SPEAKER):  # a session's first line may name a speaker twice
        readings.append(added.sub("", readings[-1], count=1))
    return readings


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _digest(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]

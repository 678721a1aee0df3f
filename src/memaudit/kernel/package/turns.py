"""Turns of a conversation by digest: whether what a system was fed is what a package is about.

A turn is compared line by line and as a whole, white space collapsed, so that it does not matter
how turns were joined into messages. Of a line that was fed, a date in brackets and a speaker may
have been added in front: the line is kept with and without them.
"""

import hashlib
import re

LEAST_WORDS = 4
"""Shorter lines, such as "Thanks!", are in any conversation."""

_DATE = re.compile(r"^\[[^\]]{1,80}\]\s*")
_SPEAKER = re.compile(r"^[^:\n]{1,60}:\s+")


def turn_digests(text: str) -> tuple[str, ...]:
    """The digest of every line that is not blank."""
    return tuple(_digest(line) for line in _lines(text))


def whole_digest(text: str) -> str:
    """The digest of a turn whose line breaks count as blanks."""
    return _digest(" ".join(text.split()))


def fed_digests(message: str) -> list[list[str]]:
    """For every line that says something, its digests with and without an added date and speaker;
    and those of the whole message, where it has several lines."""
    lines = [line for line in _lines(message) if len(line.split()) >= LEAST_WORDS]
    whole = " ".join(message.split())
    return [
        list(dict.fromkeys(map(_digest, _readings(line))))
        for line in dict.fromkeys((*lines, *((whole,) if len(lines) > 1 else ())))
    ]


def _readings(line: str) -> list[str]:
    readings = [line]
    for added in (_DATE, _SPEAKER, _SPEAKER):  # a session's first line may name a speaker twice
        readings.append(added.sub("", readings[-1], count=1))
    return readings


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _digest(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]

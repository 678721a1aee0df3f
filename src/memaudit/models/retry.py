"""When to try again, and how long to wait first."""

import random
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

TRANSIENT = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may pass by themselves."""


def is_transient(status: int | None) -> bool:
    """Whether trying again can help; None is a time-out or a lost connection."""
    return status is None or status in TRANSIENT or status >= 500


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off with jitter; the same seed and key give the same waits."""

    retries: int = 5
    first: float = 1.0
    longest: float = 60.0
    longest_asked: float = 300.0
    """A server that asks for a longer pause is not waited for."""
    seed: int = 0

    def wait(self, key: str, attempt: int, asked: float | None) -> float | None:
        """Seconds before retry `attempt` (from 0), or None to give up."""
        if attempt >= self.retries or (asked is not None and asked > self.longest_asked):
            return None
        full = min(self.longest, self.first * 2.0**attempt)
        jitter = random.Random(f"{self.seed} {key} {attempt}").uniform(0.5, 1.0)
        return max(full * jitter, asked or 0.0)


def asked_pause(headers: dict[str, str], now: float) -> float | None:
    """The pause a server asks for: Retry-After in seconds or as a date, or retry-after-ms."""
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None

"""What a system is fed: the visible experiences as messages, and nothing else of a package."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.writers.protocol import VisibleExperience, visible

ASSISTANTS = frozenset({"assistant", "ai", "agent", "model", "bot", "system"})
PLAIN = ASSISTANTS | {"user", "human"}
"""Speakers that a role says already."""


@dataclass(frozen=True, slots=True)
class FedMessage:
    """One experience as a chat message, and the parts for systems with fields of their own."""

    role: str
    content: str
    """`[timestamp] speaker: text`, without what the package does not know."""
    spoken: str
    """`speaker: text`."""
    time: str | None
    """`YYYYMMDDHHMM` where the timestamp is ISO, else as it stands."""


@dataclass(frozen=True, slots=True)
class Fed:
    """A message with the experience it came from; only the message leaves this process."""

    experience: str
    message: FedMessage


@dataclass(frozen=True, slots=True)
class Example:
    """A package as far as it is fed."""

    name: str
    digest: str
    messages: tuple[Fed, ...]
    empty: int


def as_example(package: Package) -> Example:
    """The messages of a package in order of arrival; experiences without text are counted."""
    experiences = visible(package).experiences
    messages = tuple(Fed(one.id, _message(one)) for one in experiences if one.text.strip())
    if not messages:
        raise MemAuditError(f"package {package.name!r} has no experience with a text to feed")
    return Example(package.name, fed_digest(messages), messages, len(experiences) - len(messages))


def fed_digest(messages: Sequence[Fed]) -> str:
    """The SHA-256 of what is fed: other labels on the same stream are the same feed."""
    rows = [[one.experience, asdict(one.message)] for one in messages]
    text = json.dumps(rows, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _message(experience: VisibleExperience) -> FedMessage:
    speaker = (experience.speaker or "").strip()
    named = speaker and speaker.casefold() not in PLAIN
    spoken = f"{speaker}: {experience.text}" if named else experience.text
    when = experience.timestamp
    return FedMessage(
        role="assistant" if speaker.casefold() in ASSISTANTS else "user",
        content=f"[{when}] {spoken}" if when else spoken,
        spoken=spoken,
        time=_compact(when) if when else None,
    )


def _compact(when: str) -> str:
    try:
        return datetime.fromisoformat(when).strftime("%Y%m%d%H%M")
    except ValueError:
        return when

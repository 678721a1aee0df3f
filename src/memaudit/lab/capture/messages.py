"""What a system is fed of a package: messages with roles, speakers and times, in groups."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Package
from memaudit.lab.sweeps.writers.protocol import VisibleExperience, visible

ASSISTANTS = frozenset({"assistant", "ai", "agent", "model", "bot", "system"})
PLAIN = ASSISTANTS | {"user", "human"}
"""Speakers that the role already names."""

MESSAGE, EXCHANGE, SESSION = FEEDS = ("message", "exchange", "session")
SECOND = 1_000_000
START = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_YEAR, LAST_YEAR = 2, 9998
"""Times beyond them are none: a clock must be able to move on from there."""
NO_TIME = datetime(2024, 1, 1, tzinfo=UTC)
"""Where the clock begins if no message has a time."""

BEFORE = 60
"""Seconds before the first message at which the system is opened."""


@dataclass(frozen=True, slots=True)
class FedMessage:
    """One experience as a chat message, and the parts for systems with fields of their own."""

    role: str
    content: str
    """`[timestamp] speaker: text`, without the parts that the package does not have."""
    spoken: str
    """`speaker: text`."""
    dialogue: str
    """The same; where the speaker has no name, the role speaks."""
    time: str | None
    """`YYYYMMDDHHMM` if the timestamp is ISO, else unchanged."""


@dataclass(frozen=True, slots=True)
class FedExperience:
    """A message with its experience; only the message is sent to the system."""

    experience: str
    message: FedMessage
    session: str | None = None
    speaker: str = ""
    microseconds: int | None = None
    """The time since 1970, without a zone taken for UTC; None if there is none that is ISO."""


@dataclass(frozen=True, slots=True)
class CaptureExample:
    """What a system is fed of a package: its visible experiences as messages, nothing else."""

    name: str
    digest: str
    messages: tuple[FedExperience, ...]
    empty: int

    @property
    def begins(self) -> int:
        """When the system is opened, in microseconds since 1970."""
        first = next(iter(self._times), None)
        known = int(NO_TIME.timestamp()) * SECOND if first is None else first
        return known - BEFORE * SECOND

    @property
    def ends(self) -> str | None:
        """The time of the last message, if any has one."""
        if not self._times:
            return None
        return (START + timedelta(microseconds=max(self._times))).isoformat()

    @property
    def _times(self) -> list[int]:
        return [fed.microseconds for fed in self.messages if fed.microseconds is not None]

    @property
    def untimed(self) -> int:
        return sum(fed.microseconds is None for fed in self.messages)

    @property
    def late(self) -> int:
        """Messages that are earlier than one before them: the clock does not go back for them."""
        return sum(now < max(self._times[:at]) for at, now in enumerate(self._times) if at)


def as_example(package: Package) -> CaptureExample:
    """The messages of a package in order of arrival; experiences without text are counted, unless
    they are a bracket around others, such as the end of a session."""
    experiences = visible(package).experiences
    # A session with text and an empty line in it: the line is a bracket, not something lost.
    told = {experience.session for experience in experiences if experience.text.strip()}
    empty = [
        experience
        for experience in experiences
        if not experience.text.strip() and (experience.session or None) not in told - {None}
    ]
    messages = tuple(_fed(experience) for experience in experiences if experience.text.strip())
    if not messages:
        raise MemAuditError(f"package {package.name!r} has no experience with a text to feed")
    return CaptureExample(package.name, fed_digest(messages), messages, len(empty))


def feedings(messages: Sequence[FedExperience], feed: str) -> list[list[FedExperience]]:
    """The messages that reach the system together: one, an exchange, or a session.

    An exchange is a message with the answer that follows it. Where an assistant answers, all that
    was said since its last answer belongs to it. No exchange goes beyond its session.
    """
    has_assistant = any(fed.message.role == "assistant" for fed in messages)
    found: list[list[FedExperience]] = []
    for fed in messages:
        group = found[-1] if found else []
        same = bool(group) and fed.session == group[-1].session
        if same and (feed == SESSION or (feed == EXCHANGE and _goes_on(group, fed, has_assistant))):
            group.append(fed)
        else:
            found.append([fed])
    return found


def _goes_on(group: Sequence[FedExperience], fed: FedExperience, has_assistant: bool) -> bool:
    if has_assistant:
        answered = group[-1].message.role == "assistant"
        return not answered or fed.message.role == "assistant"
    answering = len({each.speaker for each in group}) > 1
    return fed.speaker == group[-1].speaker if answering else fed.speaker != group[-1].speaker


def fed_digest(messages: Sequence[FedExperience]) -> str:
    """The SHA-256 of what is fed; other labels on the same stream do not change it."""
    rows = [[fed.experience, fed.session, asdict(fed.message)] for fed in messages]
    text = json.dumps(rows, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _fed(experience: VisibleExperience) -> FedExperience:
    speaker = (experience.speaker or "").strip()
    named = speaker and speaker.casefold() not in PLAIN
    spoken = f"{speaker}: {experience.text}" if named else experience.text
    when = experience.timestamp
    role = "assistant" if speaker.casefold() in ASSISTANTS else "user"
    moment = _moment(when)
    message = FedMessage(
        role=role,
        content=f"[{when}] {spoken}" if when else spoken,
        spoken=spoken,
        dialogue=spoken if named else f"{role}: {spoken}",
        time=when if moment is None else moment.strftime("%Y%m%d%H%M"),
    )
    exact = None if moment is None else (moment - START) // timedelta(microseconds=1)
    return FedExperience(experience.id, message, experience.session, speaker, exact)


def _moment(when: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(when or "")
        # Zones may move the time by a day over the ends of what `datetime` can hold.
        if not FIRST_YEAR <= found.year <= LAST_YEAR:
            return None
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)

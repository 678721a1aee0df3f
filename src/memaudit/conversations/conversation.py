"""The one shape every dataset is read into: sessions of turns, and questions about them.

Timestamps are ISO 8601 text that sorts as time does, or None. Ids are unique in their table.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from memaudit.kernel.errors import MemAuditError


@dataclass(frozen=True, slots=True)
class Turn:
    """One message; `index` is its place in the session as the file lists it."""

    id: str
    session: str
    index: int
    speaker: str
    role: str
    text: str
    timestamp: str | None = None
    caption: str | None = None  # of an image sent with the message
    place: str | None = None  # where the message was sent from


@dataclass(frozen=True, slots=True)
class Session:
    """Turns that belong together, with the time the dataset gives them."""

    id: str
    index: int
    timestamp: str | None
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question asked after the conversation, and the turns that hold its answer.

    `references` counts the evidence pointers the file lists, before repairs and drops.
    `evidence_points` are memory points, in datasets that cite those and no turns.
    `abstention` means that the conversation does not answer it.
    """

    id: str
    text: str
    answer: str | None
    kind: str
    evidence: tuple[str, ...] = ()
    evidence_sessions: tuple[str, ...] = ()
    asked_at: str | None = None
    abstention: bool = False
    adversarial_answer: str | None = None
    choices: tuple[tuple[str, str], ...] = ()
    references: int = 0
    evidence_points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Representation:
    """Something shorter than the turns that the dataset itself ships."""

    id: str
    kind: str
    text: str
    speaker: str | None = None
    session: str | None = None
    sources: tuple[str, ...] = ()
    timestamp: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """What a dataset says a memory should hold after a session, or, by its source, should not.

    `replaces` are the texts of the earlier points that it updates. Points are labels: nothing that
    a writer sees may be made of them.
    """

    id: str
    session: str
    text: str
    kind: str
    source: str
    importance: float | None = None
    is_update: bool = False
    replaces: tuple[str, ...] = ()
    timestamp: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything one memory sees, and everything asked about it."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...] = ()
    representations: tuple[Representation, ...] = ()
    topic: str | None = None
    memory_points: tuple[MemoryPoint, ...] = ()

    def __post_init__(self) -> None:
        turns = {turn.id for turn in self.turns}
        sessions = {session.id for session in self.sessions}
        tables = {
            "turn": [turn.id for turn in self.turns],
            "session": [session.id for session in self.sessions],
            "question": [question.id for question in self.questions],
            "representation": [shipped.id for shipped in self.representations],
            "memory point": [point.id for point in self.memory_points],
        }
        for table, ids in tables.items():
            if len(set(ids)) < len(ids):
                twice = Counter(ids).most_common(1)[0][0]
                raise MemAuditError(f"conversation {self.id!r} has two {table}s with id {twice!r}")
        for id, cited in [(question.id, question.evidence) for question in self.questions] + [
            (shipped.id, shipped.sources) for shipped in self.representations
        ]:
            if lost := [turn for turn in cited if turn not in turns]:
                raise MemAuditError(f"{id!r} in {self.id!r} points to the unknown turn {lost[0]!r}")
        points = {point.id for point in self.memory_points}
        for question in self.questions:
            if lost := [id for id in question.evidence_sessions if id not in sessions]:
                raise MemAuditError(
                    f"{question.id!r} in {self.id!r} points to the unknown session {lost[0]!r}"
                )
            if lost := [id for id in question.evidence_points if id not in points]:
                raise MemAuditError(
                    f"{question.id!r} in {self.id!r} cites the unknown memory point {lost[0]!r}"
                )
        for point in self.memory_points:
            if point.session not in sessions:
                raise MemAuditError(
                    f"{point.id!r} in {self.id!r} points to the unknown session {point.session!r}"
                )

    @property
    def turns(self) -> Iterator[Turn]:
        return (turn for session in self.sessions for turn in session.turns)

    @property
    def in_time_order(self) -> tuple[Session, ...]:
        """Sessions by their time, or in the file's order if any has none."""
        if any(session.timestamp is None for session in self.sessions):
            return self.sessions
        return tuple(sorted(self.sessions, key=lambda session: session.timestamp or ""))

    @property
    def is_in_time_order(self) -> bool:
        """Whether the file lists the sessions that have a time in the order of time."""
        times = [session.timestamp for session in self.sessions if session.timestamp is not None]
        return all(earlier <= later for earlier, later in pairwise(times))


def numbered_by_time(sessions: Iterable[Session]) -> tuple[Session, ...]:
    """Separate chats as the sessions of one conversation: by time, those without one last."""
    ordered = sorted(
        sessions, key=lambda session: (session.timestamp is None, session.timestamp or "")
    )
    return tuple(replace(session, index=index) for index, session in enumerate(ordered))

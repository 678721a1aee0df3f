"""The transcript that some exports hold beside the memories, as a chat that `build` reads."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from memaudit.kernel.words.text import counted
from memaudit.stores.source import ExportSource


@dataclass(frozen=True, slots=True)
class ChatMessage:
    speaker: str
    text: str
    time: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ChatSession:
    """Messages in the order of the export."""

    id: str
    time: str | None
    messages: tuple[ChatMessage, ...]


@dataclass(slots=True)
class Transcript:
    """All sessions that one store was written from, and what was left out of them."""

    sessions: list[ChatSession] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """Messages and sessions, by the reason."""

    @property
    def messages(self) -> int:
        return sum(len(session.messages) for session in self.sessions)

    @property
    def account(self) -> str:
        """What it holds and what was left out, in one line."""
        held = f"{counted(len(self.sessions), 'session')}, {counted(self.messages, 'message')}"
        lost = [f"{count:,} {reason}" for reason, count in sorted(self.left_out.items())]
        return f"{held}; left out: {', '.join(lost)}" if lost else held

    def add(self, id: str, time: str | None, messages: Iterable[ChatMessage]) -> None:
        """A session; one without messages is counted as left out."""
        kept = tuple(messages)
        if kept:
            self.sessions.append(ChatSession(id, time or kept[0].time, kept))
        else:
            self.left_out["without a message"] += 1


@runtime_checkable
class HoldsTranscript(Protocol):
    """An adapter whose exports hold, or may hold, the transcript as well."""

    def transcript(self, source: ExportSource, namespace: str | None, /) -> Transcript:
        """The transcript, of one namespace if that is given; without a session where this export
        has none."""
        ...


def chat_lines(transcript: Transcript, name: str) -> Iterator[str]:
    """The rows of a chat file, with one conversation: what one memory system has seen.

    Sessions are in the order of time, if each has one.
    """
    sessions = transcript.sessions
    if all(session.time is not None for session in sessions):
        sessions = sorted(sessions, key=lambda session: session.time or "")
    yield _row(conversation=name)
    for session in sessions:
        yield _row(session=session.id, time=session.time)
        for message in session.messages:
            yield _row(id=message.id, speaker=message.speaker, text=message.text, time=message.time)


def _row(**fields: str | None) -> str:
    held = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(held, ensure_ascii=False) + "\n"

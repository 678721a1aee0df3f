"""The conversation as the generating passes get it: turns by number, and nothing else.

A SourceText has no questions, no answers, no evidence, no representations and no ids (a dataset's
ids can say which sessions hold the answers). The passes that write memories and units take this
type and no other, so there is nothing in their reach that they must not see.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from memaudit.datasets.conversation import Session
from memaudit.models.prompt import Quotable
from memaudit.natural.transcript import text_of

MOST_LETTERS = 12_000
"""Text of one request: a reply about more would not fit, and attention thins out."""


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """One message; its number counts all turns of the conversation from 1."""

    number: int
    speaker: str
    text: str
    time: str | None

    def as_data(self, usual: str | None) -> Quotable:
        """What a prompt shows; the time only where it is not the session's."""
        data: dict[str, Quotable] = {
            "turn": self.number,
            "speaker": self.speaker,
            "text": self.text,
        }
        return data if self.time in (None, usual) else {**data, "time": self.time}


@dataclass(frozen=True, slots=True)
class SourceSession:
    """Turns that belong together."""

    number: int
    time: str | None
    turns: tuple[SourceTurn, ...]

    @property
    def letters(self) -> int:
        """How much text it is."""
        return sum(len(turn.text) for turn in self.turns)


@dataclass(frozen=True)
class SourceText:
    """A conversation, or a piece of one."""

    sessions: tuple[SourceSession, ...]

    @cached_property
    def turns(self) -> dict[int, SourceTurn]:
        """Turns by number."""
        return {turn.number: turn for session in self.sessions for turn in session.turns}

    def as_data(self) -> Quotable:
        """What a prompt shows."""
        return [
            {
                "session": session.number,
                "time": session.time,
                "turns": [turn.as_data(session.time) for turn in session.turns],
            }
            for session in self.sessions
        ]


def source_text(sessions: Sequence[Session]) -> SourceText:
    """The source of a transcript's sessions, numbered in their order."""
    found: list[SourceSession] = []
    number = 0
    for session in sessions:
        turns = []
        for turn in session.turns:
            number += 1
            turns.append(SourceTurn(number, turn.speaker, text_of(turn), turn.timestamp))
        found.append(SourceSession(len(found) + 1, session.timestamp, tuple(turns)))
    return SourceText(tuple(found))


def pieces(source: SourceText, most: int = MOST_LETTERS) -> Iterator[SourceText]:
    """The source in pieces of at most `most` letters: whole sessions, else cut between turns."""
    together: list[SourceSession] = []
    for part in (part for session in source.sessions for part in _parts(session, most)):
        if together and sum(one.letters for one in together) + part.letters > most:
            yield SourceText(tuple(together))
            together = []
        together.append(part)
    if together:
        yield SourceText(tuple(together))


def _parts(session: SourceSession, most: int) -> Iterator[SourceSession]:
    """A session, or parts of a long one; turns stay whole, and empty ones are left out."""
    turns: list[SourceTurn] = []
    for turn in (turn for turn in session.turns if turn.text.strip()):
        if turns and sum(len(one.text) for one in turns) + len(turn.text) > most:
            yield SourceSession(session.number, session.time, tuple(turns))
            turns = []
        turns.append(turn)
    if turns:
        yield SourceSession(session.number, session.time, tuple(turns))

"""The conversation as the generating passes see it: numbered turns and nothing else.

A SourceText has no questions, answers, evidence, representations or ids (a dataset's ids can reveal
which sessions hold the answers). The passes that write memories and units take only this type, so
they cannot reach anything that they must not see.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memaudit.building.transcript import turn_text
from memaudit.conversations.conversation import Session
from memaudit.models.prompts import Quotable

# A prompt asks for at most 40 units of a piece, which take LONG_REPLY tokens with quotes and parts.
MAX_CHARACTERS = 12_000
"""Source text per request. A reply about more would not fit."""

OVERLAP = 2
"""Turns that a piece repeats of the one before, where a session is cut."""


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """One message, numbered through the conversation from 1."""

    number: int
    speaker: str
    text: str
    time: str | None
    again: bool = False
    """Shown for context: the piece before has it too."""

    def as_data(self, usual: str | None) -> Quotable:
        """What a prompt shows. The time is left out if it is the session's."""
        data: dict[str, Quotable] = {
            "turn": self.number,
            "speaker": self.speaker,
            "text": self.text,
        }
        if self.time not in (None, usual):
            data["time"] = self.time
        return {**data, "again": True} if self.again else data


@dataclass(frozen=True, slots=True)
class SourceSession:
    number: int
    time: str | None
    turns: tuple[SourceTurn, ...]

    @property
    def length(self) -> int:
        return sum(len(turn.text) for turn in self.turns)


@dataclass(frozen=True)
class SourceText:
    """A conversation, or a piece of one."""

    sessions: tuple[SourceSession, ...]

    @cached_property
    def turns(self) -> dict[int, SourceTurn]:
        return {turn.number: turn for session in self.sessions for turn in session.turns}

    def as_data(self) -> Quotable:
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
    numbered: list[SourceSession] = []
    number = 0
    for session in sessions:
        turns = []
        # Numbers run through the conversation, so that a turn has one name in every piece.
        for turn in session.turns:
            number += 1
            turns.append(SourceTurn(number, turn.speaker, turn_text(turn), turn.timestamp))
        numbered.append(SourceSession(len(numbered) + 1, session.timestamp, tuple(turns)))
    return SourceText(tuple(numbered))


def pieces(
    source: SourceText, most: int = MAX_CHARACTERS, overlap: int = OVERLAP
) -> Iterator[SourceText]:
    """The source in pieces of at most `most` characters, cut between sessions or else turns.

    A piece that begins within a session starts with the last turns of the one before, marked.
    """
    together: list[SourceSession] = []
    for part in (part for session in source.sessions for part in _parts(session, most, overlap)):
        if together and sum(session.length for session in together) + part.length > most:
            yield SourceText(tuple(together))
            together = []
        together.append(part)
    if together:
        yield SourceText(tuple(together))


def _parts(session: SourceSession, most: int, overlap: int) -> Iterator[SourceSession]:
    """A session, or parts of a long one. Turns stay whole; empty ones are left out."""
    turns: list[SourceTurn] = []
    for turn in (turn for turn in session.turns if turn.text.strip()):
        if turns and sum(len(part.text) for part in turns) + len(turn.text) > most:
            yield SourceSession(session.number, session.time, tuple(turns))
            turns = [replace(before, again=True) for before in turns[-overlap:]] if overlap else []
            # The overlap gives way, never the new turn: it has to be in some piece.
            while turns and sum(len(part.text) for part in turns) + len(turn.text) > most:
                del turns[0]
        turns.append(turn)
    if turns:
        yield SourceSession(session.number, session.time, tuple(turns))

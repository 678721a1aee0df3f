"""What a reader takes and gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memaudit.downstream.kept_store import StoredMemory
from memaudit.downstream.question import PackageQuestion


class ReplyState(StrEnum):
    """The kind of a reply."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    EMPTY = "empty_answer"
    """It claims to answer, and the answer is blank."""
    UNPARSEABLE = "unparseable_reply"
    REFUSED = "refused"
    NO_REPLY = "no_reply"
    """The server failed, so there is nothing to grade."""


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """A question with what was retrieved for it, best first."""

    owner: str
    """The package, for the ledger of a model's replies."""
    question: PackageQuestion
    memories: tuple[StoredMemory, ...]


@dataclass(frozen=True, slots=True)
class ReaderReply:
    """The reply of a reader."""

    state: ReplyState
    answer: str = ""
    used: tuple[str, ...] = ()
    """Ids of the memories that the reader names as its sources."""
    notes: tuple[str, ...] = ()
    knows: bool = False
    """The reader looked at the hidden part, so its answer is right by construction."""


class Reader(Protocol):
    """Answers questions from memories."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """How it answers, in one line."""
        ...

    @property
    def peeks(self) -> bool:
        """Whether it looks at more than texts."""
        ...

    @property
    def asks_a_model(self) -> bool:
        """Whether it is better asked everything at once: one estimate, one batch."""
        ...

    def read(self, tasks: Sequence[ReadingTask]) -> list[ReaderReply]:
        """One reply per task, in order."""
        ...

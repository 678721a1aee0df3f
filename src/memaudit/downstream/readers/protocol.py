"""What a reader takes and gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memaudit.downstream.kept_store import StoredMemory
from memaudit.downstream.question import PackageQuestion


class ReplyState(StrEnum):
    """What sort of reply it is."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    EMPTY = "empty_answer"
    """It says that it answers, and the answer is blank."""
    UNPARSEABLE = "unparseable_reply"
    REFUSED = "refused"
    NO_REPLY = "no_reply"
    """The server failed: there is nothing to grade."""


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """A question with what was retrieved for it, best first."""

    owner: str
    """The package, for the ledger of a model's replies."""
    question: PackageQuestion
    memories: tuple[StoredMemory, ...]


@dataclass(frozen=True, slots=True)
class ReaderReply:
    """What a reader said."""

    state: ReplyState
    answer: str = ""
    used: tuple[str, ...] = ()
    """Ids of the memories the answer is taken from, as far as the reader says."""
    notes: tuple[str, ...] = ()
    knows: bool = False
    """The reader looked at the hidden side: its answer is right by construction."""


class Reader(Protocol):
    """Answers questions from memories."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """One line: how it answers."""
        ...

    @property
    def peeks(self) -> bool:
        """Whether it looks at more than texts."""
        ...

    @property
    def asks_a_model(self) -> bool:
        """Whether it is better asked everything at once: one estimate, one batch."""
        ...

    def read(self, asked: Sequence[ReadingTask]) -> list[ReaderReply]:
        """One reply a question, in order."""
        ...

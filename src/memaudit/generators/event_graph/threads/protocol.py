"""What a thread is, and what one of its messages brings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.phrase import Piece, Scene, render
from memaudit.generators.event_graph.questions import Book

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Telling:
    """One thing said: the sentence, what could be stored of it, and how a summary puts it."""

    message: Piece
    stored: tuple[tuple[str, Piece], ...]
    brief: Piece
    roots: tuple[int, ...]
    """The atoms that have their source here."""

    @classmethod
    def faithful(
        cls, message: Piece, stored: Sequence[tuple[str, Piece]], brief: Piece,
        roots: tuple[int, ...],
    ) -> "Telling":  # fmt: skip
        """A telling of which nothing is stored that its message does not say."""
        said = frozenset(message.stated)
        kept = tuple((kind, piece) for kind, piece in stored if said.issuperset(piece.stated))
        return cls(message, kept, brief if said.issuperset(brief.stated) else NOTHING, roots)


NOTHING = Piece("")
"""What a summary leaves out."""


class Thread(Protocol):
    """Something that is told in a number of messages, in order."""

    @property
    def beats(self) -> int:
        """How many messages it takes."""
        ...

    @property
    def early(self) -> bool:
        """Whether it belongs to the first part of its chapter."""
        ...

    def write(self, book: Book, days: tuple[date, ...]) -> list[Telling]:
        """Its messages, given the day of each; adds atoms and questions to the book."""
        ...


def spoken(day: date) -> str:
    """A date as one says it: 14 March 2025."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def shifted(day: date, dice: Dice, low: int, high: int) -> date:
    """Some days later, or earlier where the numbers are negative."""
    return day + timedelta(days=dice.between(low, high))


def one_of(dice: Dice, templates: tuple[str, ...], scene: Scene, first: bool = False) -> Piece:
    """One of the templates, filled in."""
    return render(dice.pick(templates), scene, first)

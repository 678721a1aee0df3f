"""What must not be answered: things taken back, and things nobody has decided."""

from dataclasses import dataclass
from datetime import date

from memaudit.core.package import ABSTENTION, DELETION, STALE
from memaudit.generators.event_graph.phrase import Person, Scene, plain_role
from memaudit.generators.event_graph.questions import Book
from memaudit.generators.event_graph.threads.protocol import Telling, one_of, shifted, spoken
from memaudit.generators.event_graph.words import secrets as said

NOT_KNOWN = "not known"
"""The answer where a memory should abstain."""


@dataclass(frozen=True, slots=True)
class DeletionThread:
    """Something told that is to be forgotten later, without a new value."""

    person: Person
    what: str
    value: str
    early: bool = False

    @property
    def beats(self) -> int:
        return 2

    def write(self, book: Book, days: tuple[date, ...]) -> list[Telling]:
        who, name = self.person.forms, self.person.name
        told = {"who": who, "what": (self.what,), "value": (self.value,)}
        old = book.add(
            STALE, told, f"{name}'s {self.what} is {self.value}.", days[0], ("who", "what")
        )
        gone = {"who": who, "what": (self.what,), "gone": said.GONE, "none": said.NONE}
        end = book.add(DELETION, gone, f"{name}'s {self.what} was deleted on request.", days[1])
        fills = {"what": self.what, "value": self.value}
        before = Scene(self.person, fills, (plain_role(old),))
        after = Scene(self.person, {"what": self.what}, (plain_role(end),))
        book.ask("abstention", said.ASK, after, NOT_KNOWN, (end,))
        dice = book.dice
        return [
            Telling.faithful(
                one_of(dice, said.TELL, before, True),
                (
                    ("fact", one_of(dice, said.FACT, before)),
                    ("edge", one_of(dice, said.EDGE, before)),
                ),
                one_of(dice, said.BRIEF, before),
                (old.number,),
            ),
            Telling.faithful(
                one_of(dice, said.FORGET, after, True),
                (
                    ("tombstone", one_of(dice, said.TOMBSTONE, after)),
                    ("fact", one_of(dice, said.FORGET_FACT, after)),
                ),
                one_of(dice, said.FORGET_BRIEF, after),
                (end.number,),
            ),
        ]


@dataclass(frozen=True, slots=True)
class OpenThread:
    """Something that is undecided, so that a question about it has no answer."""

    person: Person
    what: str
    question: str
    early: bool = False

    @property
    def beats(self) -> int:
        return 1

    def write(self, book: Book, days: tuple[date, ...]) -> list[Telling]:
        by = spoken(shifted(days[0], book.dice, 30, 120))
        slots = {
            "who": self.person.forms, "what": (self.what,), "open": said.OPEN_MARKS, "by": (by,),
        }  # fmt: skip
        text = f"{self.person.name} has not decided {self.what}, and won't before {by}."
        atom = book.add(ABSTENTION, slots, text, days[0])
        scene = Scene(self.person, {"what": self.what, "by": by}, (plain_role(atom),))
        book.ask("abstention", self.question, scene, NOT_KNOWN, (atom,))
        dice = book.dice
        stored = (
            ("fact", one_of(dice, said.OPEN_FACT, scene)),
            ("fact", one_of(dice, said.OPEN_SHORT, scene)),
        )
        message, brief = (
            one_of(dice, said.OPEN_TELL, scene, True), one_of(dice, said.OPEN_BRIEF, scene),
        )  # fmt: skip
        return [Telling.faithful(message, stored, brief, (atom.number,))]

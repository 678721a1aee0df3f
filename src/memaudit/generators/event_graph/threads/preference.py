"""A preference that depends on where one is: told for one place, then for others."""

from dataclasses import dataclass
from datetime import date

from memaudit.generators.event_graph.phrase import Atom, Person, Scene, plain_role
from memaudit.generators.event_graph.questions import Book
from memaudit.generators.event_graph.threads.protocol import Telling, one_of
from memaudit.generators.event_graph.words import topics as said


@dataclass(frozen=True, slots=True)
class PreferenceThread:
    """What somebody likes, place by place, and how often each is told again."""

    person: Person
    topic: str
    scopes: tuple[str, ...]
    values: tuple[str, ...]
    again: tuple[int, ...]
    early: bool = False

    @property
    def beats(self) -> int:
        return len(self.values) + sum(self.again)

    def write(self, book: Book, days: tuple[date, ...]) -> list[Telling]:
        tellings: list[Telling] = []
        for place, value in enumerate(self.values):
            scope, day = self.scopes[place], days[len(tellings)]
            slots = {
                "who": self.person.forms, "what": (self.topic,), "value": (value,),
                "scope": (scope,),
            }  # fmt: skip
            text = f"{self.person.name} prefers {value} for {self.topic} {scope}."
            atom = book.add("preference", slots, text, day, ("who", "what"))
            fills = {"what": self.topic, "value": value, "scope": scope}
            scene = Scene(self.person, fills, (plain_role(atom),))
            opening = said.SHIFT if place else said.TELL
            for templates in (opening, *(said.TELL_AGAIN,) * self.again[place]):
                tellings.append(_telling(book, scene, atom, templates))
            book.ask("single_hop", said.ASK, scene, value, (atom,), hop=True)
        return tellings


def _telling(book: Book, scene: Scene, atom: Atom, templates: tuple[str, ...]) -> Telling:
    dice = book.dice
    stored = (
        ("fact", one_of(dice, said.FACT, scene)),
        ("fact", one_of(dice, said.SHORT, scene)),
        ("edge", one_of(dice, said.EDGE, scene)),
    )
    return Telling.faithful(
        one_of(dice, templates, scene, True), stored, one_of(dice, said.BRIEF, scene),
        (atom.number,),
    )  # fmt: skip

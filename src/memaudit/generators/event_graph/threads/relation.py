"""Who somebody is to somebody else."""

from dataclasses import dataclass
from datetime import date

from memaudit.generators.event_graph.phrase import Person, Relation, Scene, plain_role
from memaudit.generators.event_graph.questions import Book
from memaudit.generators.event_graph.threads.protocol import Telling, one_of
from memaudit.generators.event_graph.words import relations as said


@dataclass(frozen=True, slots=True)
class RelationThread:
    """An edge of the graph, told once or more."""

    source: Person
    label: str
    target: Person
    again: int
    early: bool = True

    @property
    def beats(self) -> int:
        return 1 + self.again

    def write(self, book: Book, days: tuple[date, ...]) -> list[Telling]:
        slots = {
            "who": self.source.forms, "label": (self.label,), "other": (self.target.name,),
        }  # fmt: skip
        text = f"{self.target.name} is {self.source.name}'s {self.label}."
        atom = book.add("relation", slots, text, days[0], ("who", "label"))
        fills = {"label": self.label, "other": self.target.name}
        scene = Scene(self.source, fills, (plain_role(atom),))
        book.relations.append(Relation(self.source, self.label, self.target, atom.number))
        book.ask("single_hop", said.ASK, scene, self.target.name, (atom,))
        return [
            Telling.faithful(
                one_of(book.dice, said.TELL_AGAIN if place else said.TELL, scene, True),
                (
                    ("edge", one_of(book.dice, said.EDGE, scene)),
                    ("fact", one_of(book.dice, said.FACT, scene)),
                ),
                one_of(book.dice, said.BRIEF, scene),
                (atom.number,),
            )
            for place in range(self.beats)
        ]

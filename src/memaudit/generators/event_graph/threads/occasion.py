"""An event: with a start and an end, or on one day at a place."""

from dataclasses import dataclass
from datetime import date, timedelta

from memaudit.core.package import TEMPORAL
from memaudit.generators.event_graph.phrase import Person, Scene, plain_role
from memaudit.generators.event_graph.questions import Book
from memaudit.generators.event_graph.threads.protocol import Telling, one_of, shifted, spoken
from memaudit.generators.event_graph.words import occasions as said

Templates = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OccasionThread:
    """What happens, for how many days; a single day has a place instead of an end."""

    person: Person
    article: str
    what: str
    length: int
    place: str
    again: int
    early: bool = False

    @property
    def beats(self) -> int:
        return 1 + self.again

    @property
    def lasting(self) -> bool:
        """Whether it has a start and an end."""
        return self.length > 0

    def write(self, book: Book, days: tuple[date, ...]) -> list[Telling]:
        start = shifted(days[-1], book.dice, 2, 40)
        begins, ends = spoken(start), spoken(start + timedelta(days=self.length))
        fills = {"a": self.article, "what": self.what, "start": begins}
        fills |= {"end": ends} if self.lasting else {"place": self.place}
        slots = {"who": self.person.forms} | {
            name: (text,) for name, text in fills.items() if name != "a"
        }
        rest = f"from {begins} to {ends}" if self.lasting else f"on {begins} at {self.place}"
        text = f"{self.person.name} has {self.article} {self.what} {rest}."
        atom = book.add(TEMPORAL if self.lasting else "event", slots, text, days[0])
        scene = Scene(self.person, fills, (plain_role(atom),))
        template, asked = book.dice.pick(said.LASTING_ASK if self.lasting else said.SINGLE_ASK)
        book.ask("temporal", template, scene, fills[asked], (atom,), hop=asked != "what")
        tell, again, event, fact = _wordings(self.lasting)
        return [
            self._telling(book, scene, atom.number, again if place else tell, event, fact)
            for place in range(self.beats)
        ]

    def _telling(
        self, book: Book, scene: Scene, atom: int, tell: Templates, event: Templates,
        fact: Templates,
    ) -> Telling:  # fmt: skip
        dice = book.dice
        stored = (
            ("event", one_of(dice, event, scene)),
            ("fact", one_of(dice, fact, scene)),
            ("edge", one_of(dice, said.EDGE, scene)),
        )
        message, brief = one_of(dice, tell, scene, True), one_of(dice, said.BRIEF, scene)
        return Telling.faithful(message, stored, brief, (atom,))


def _wordings(lasting: bool) -> tuple[Templates, Templates, Templates, Templates]:
    if lasting:
        return said.LASTING_TELL, said.LASTING_AGAIN, said.LASTING_EVENT, said.LASTING_FACT
    return said.SINGLE_TELL, said.SINGLE_AGAIN, said.SINGLE_EVENT, said.SINGLE_FACT

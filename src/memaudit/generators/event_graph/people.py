"""The people of a stream: one speaker, and for every chapter a few others."""

from dataclasses import dataclass, field

from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.graph import Person
from memaudit.generators.event_graph.words.names import HE, SHE, SURNAMES


@dataclass(slots=True)
class People:
    """Gives out people nobody has met yet; a name is never used twice."""

    dice: Dice
    expected: int
    """How many will be needed: beyond the first names there are, everybody has a surname."""
    _names: list[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        firsts = [*((name, "she") for name in SHE), *((name, "he") for name in HE)]
        if self.expected > len(firsts):
            firsts = [(f"{name} {last}", they) for name, they in firsts for last in SURNAMES]
        self._names = self.dice.shuffled(firsts)

    def speaker(self) -> Person:
        """The one who writes the messages."""
        name, they = self._names.pop()
        return Person(name, they, speaks=True)

    def others(self, count: int) -> list[Person]:
        """New people."""
        return [Person(*self._names.pop()) for _ in range(count)]

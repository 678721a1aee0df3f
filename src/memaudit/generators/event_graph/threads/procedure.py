"""Standing rules, and skills in steps."""

from dataclasses import dataclass
from datetime import date

from memaudit.generators.event_graph.phrase import Person, Piece, Scene, plain_role, render
from memaudit.generators.event_graph.questions import Book
from memaudit.generators.event_graph.threads.protocol import Telling, one_of
from memaudit.generators.event_graph.words import rules, skills


@dataclass(frozen=True, slots=True)
class RuleThread:
    """When something is so, what to do, where not, and why."""

    when: str
    action: str
    unless: str
    reason: str
    again: int
    early: bool = False

    @property
    def beats(self) -> int:
        return 1 + self.again

    def write(self, book: Book, days: tuple[date, ...]) -> list[Telling]:
        fills = {
            "when": self.when, "action": self.action, "unless": self.unless,
            "reason": self.reason,
        }  # fmt: skip
        text = f"Whenever {self.when}, {self.action}, except {self.unless}, because {self.reason}."
        slots = {name: (words,) for name, words in fills.items()}
        atom = book.add("rule", slots, text, days[0], ())
        scene = Scene(None, fills, (plain_role(atom),))
        book.ask("single_hop", rules.ASK, scene, self.action, (atom,))
        return [
            Telling.faithful(
                one_of(book.dice, rules.TELL_AGAIN if place else rules.TELL, scene),
                (
                    ("rule", one_of(book.dice, rules.RULE, scene)),
                    ("fact", one_of(book.dice, rules.FACT, scene)),
                ),
                one_of(book.dice, rules.BRIEF, scene),
                (atom.number,),
            )
            for place in range(self.beats)
        ]


@dataclass(frozen=True, slots=True)
class SkillThread:
    """How something of somebody's is done, in three steps."""

    person: Person
    goal: str
    steps: tuple[str, str, str]
    again: int
    early: bool = False

    @property
    def beats(self) -> int:
        return 1 + self.again

    def write(self, book: Book, days: tuple[date, ...]) -> list[Telling]:
        owner = Scene(self.person, {}, ())
        own, goal = render(self.goal, owner, True).text, render(self.goal, owner).text
        steps = {f"step{place + 1}": step for place, step in enumerate(self.steps)}
        slots = {"goal": (goal, own)} | {name: (step,) for name, step in steps.items()}
        text = f"To {goal}: {', '.join(self.steps)}."
        atom = book.add("skill", slots, text, days[0], ())
        spoken = Scene(self.person, {"goal": own, **steps}, (plain_role(atom),))
        scene = Scene(self.person, {"goal": goal, **steps}, (plain_role(atom),))
        template, asked = book.dice.pick(skills.ASK)
        book.ask("single_hop", template, scene, steps[asked], (atom,))
        return [
            Telling.faithful(
                one_of(book.dice, skills.TELL_AGAIN if place else skills.TELL, spoken),
                self._stored(book, scene),
                one_of(book.dice, skills.BRIEF, scene),
                (atom.number,),
            )
            for place in range(self.beats)
        ]

    def _stored(self, book: Book, scene: Scene) -> tuple[tuple[str, Piece], ...]:
        return (
            ("skill", one_of(book.dice, skills.SKILL, scene)),
            ("fact", one_of(book.dice, skills.FACT, scene)),
        )

"""What is collected while the stream is written: atoms, relations, questions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.phrase import Atom, Person, Relation, Scene, render

ASKED = Fraction(7, 8)
"""The share of possible questions that are asked; a writer cannot know which are not."""

IMPORTANCE = (2, 4)
"""The least and the most important question about what holds."""

ONCE = Fraction(1)
"""The importance of a question about something that is over."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that will be asked; the person can be replaced by a way round to them."""

    template: str
    scene: Scene
    answer: str
    kind: str
    required: tuple[int, ...]
    importance: Fraction
    hop: bool

    def text(self, about: Person | None = None) -> str:
        """The question, about the person or about somebody described in another way."""
        scene = self.scene
        return render(self.template, Scene(about or scene.person, scene.fills, (), scene.verb)).text


@dataclass(slots=True)
class Book:
    """The hidden side of a package in the making."""

    dice: Dice
    sure: bool = False
    """Whether every question is asked; so for the first things of a stream."""
    atoms: list[Atom] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def add(
        self, kind: str, slots: Mapping[str, tuple[str, ...]], text: str, day: date,
        shared: tuple[str, ...] = ("who",),
    ) -> Atom:  # fmt: skip
        """A new atom. `shared` slots alone do not make a text about it."""
        own = frozenset(slots) - frozenset(shared)
        atom = Atom(len(self.atoms), kind, slots, own, text, day)
        self.atoms.append(atom)
        return atom

    def ask(
        self, kind: str, template: str, scene: Scene, answer: str, required: tuple[Atom, ...],
        importance: Fraction | None = None, hop: bool = False,
    ) -> None:  # fmt: skip
        """A question, unless chance leaves it out. Its importance is drawn where none is given."""
        drawn = Fraction(self.dice.between(*IMPORTANCE)) if importance is None else importance
        if self.sure or self.dice.chance(ASKED):
            numbers = tuple(atom.number for atom in required)
            self.questions.append(Question(template, scene, answer, kind, numbers, drawn, hop))


HOPPED = Fraction(2, 3)
"""How often there is such a question about a relation."""

MOST = 2
"""How many such questions there are about a relation at most."""

FURTHER = Fraction(1, 2)
"""How often it goes over two relations where it can."""


def add_hops(book: Book, relations: list[Relation], questions: list[Question], sure: bool) -> None:
    """Questions over the relations of a chapter; with `sure` the first one that can be is asked."""
    into = {relation.target.name: relation for relation in relations}
    for relation in relations:
        known = [
            question for question in questions
            if question.hop and question.scene.person == relation.target
        ]  # fmt: skip
        if known and (book.dice.chance(HOPPED) or sure):
            sure = False
            for question in book.dice.shuffled(known)[:MOST]:
                book.questions.append(_hop(book.dice, relation, into, question))


def _hop(dice: Dice, relation: Relation, into: dict[str, Relation], question: Question) -> Question:
    """The question, about "Ilse's sister" instead of Nela."""
    way = [relation]
    before = into.get(relation.source.name)
    if before is not None and dice.chance(FURTHER):
        way.insert(0, before)
    name = way[0].source.name + "".join(f"'s {step.label}" for step in way)
    scene = question.scene
    return Question(
        question.template,
        Scene(Person(name, relation.target.they), scene.fills, (), scene.verb),
        question.answer,
        "multi_hop",
        (*(step.atom for step in way), *question.required),
        Fraction(dice.between(*IMPORTANCE)),
        hop=False,
    )

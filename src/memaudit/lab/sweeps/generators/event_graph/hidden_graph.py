"""The hidden graph of a package, collected while its stream is written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction

from memaudit.lab.sweeps.generators.event_graph.parameters import Dice
from memaudit.lab.sweeps.generators.event_graph.templates import (
    Atom,
    Person,
    Relation,
    Scene,
    render,
)

ASKED = Fraction(7, 8)
"""The share of possible questions that are asked. A writer cannot know which."""

IMPORTANCE = (2, 4)
"""The range of importance of a question about what holds now."""

ONCE = Fraction(1)
"""The importance of a question about something that is over."""


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """Something that will be asked about a person; `hop`: also in a roundabout way."""

    template: str
    scene: Scene
    answer: str
    kind: str
    required: tuple[int, ...]
    importance: Fraction
    hop: bool

    @property
    def text(self) -> str:
        return render(self.template, self.scene).text


@dataclass(slots=True)
class HiddenGraph:
    """Atoms, relations and questions that writers do not see."""

    dice: Dice
    ask_all: bool = False
    """Whether no question is left out, as for the first threads of a stream."""
    atoms: list[Atom] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    questions: list[GraphQuestion] = field(default_factory=list)

    def add(
        self,
        kind: str,
        slots: Mapping[str, tuple[str, ...]],
        text: str,
        day: date,
        shared: tuple[str, ...] = ("who",),
    ) -> Atom:
        """A new atom. A text that states only `shared` slots is not about it."""
        own = frozenset(slots) - frozenset(shared)
        atom = Atom(len(self.atoms), kind, slots, own, text, day)
        self.atoms.append(atom)
        return atom

    def ask(
        self,
        kind: str,
        template: str,
        scene: Scene,
        answer: str,
        required: tuple[Atom, ...],
        importance: Fraction | None = None,
        hop: bool = False,
    ) -> None:
        """Add a question unless it is left out by chance. Importance is drawn if not given."""
        # Drawn even if the question is then left out: the later draws do not depend on it.
        drawn = Fraction(self.dice.between(*IMPORTANCE)) if importance is None else importance
        if self.ask_all or self.dice.chance(ASKED):
            numbers = tuple(atom.number for atom in required)
            self.questions.append(GraphQuestion(template, scene, answer, kind, numbers, drawn, hop))


HOP_SHARE = Fraction(2, 3)
"""How often a relation leads to multi-hop questions."""
MAX_HOP_QUESTIONS = 2
"""Multi-hop questions per relation at most."""
TWO_HOP_SHARE = Fraction(1, 2)
"""How often such a question crosses two relations if it can."""


def add_hops(
    graph: HiddenGraph, relations: list[Relation], questions: list[GraphQuestion], ask_first: bool
) -> None:
    """Add multi-hop questions of a chapter; with `ask_first` the first possible one is asked."""
    into = {relation.target.name: relation for relation in relations}
    for relation in relations:
        about_target = [
            question
            for question in questions
            if question.hop and question.scene.person == relation.target
        ]
        # The die is thrown before `ask_first` is looked at: a stream is the same with and without
        # it.
        if about_target and (graph.dice.chance(HOP_SHARE) or ask_first):
            ask_first = False
            for question in graph.dice.shuffled(about_target)[:MAX_HOP_QUESTIONS]:
                graph.questions.append(_hop(graph.dice, relation, into, question))


def _hop(
    dice: Dice, relation: Relation, into: dict[str, Relation], question: GraphQuestion
) -> GraphQuestion:
    """The question, about "Ilse's sister" instead of Nela."""
    path = [relation]
    before = into.get(relation.source.name)
    if before is not None and dice.chance(TWO_HOP_SHARE):
        path.insert(0, before)
    name = path[0].source.name + "".join(f"'s {step.label}" for step in path)
    scene = question.scene
    return GraphQuestion(
        question.template,
        Scene(Person(name, relation.target.they), scene.fills, (), scene.verb),
        question.answer,
        "multi_hop",
        (*(step.atom for step in path), *question.required),
        Fraction(dice.between(*IMPORTANCE)),
        hop=False,
    )

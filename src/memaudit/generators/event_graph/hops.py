"""Questions that go by way of a relation: where does her sister live?"""

from fractions import Fraction

from memaudit.generators.event_graph.book import IMPORTANCE, Book, Question
from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.graph import Person, Relation
from memaudit.generators.event_graph.phrase import Scene

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

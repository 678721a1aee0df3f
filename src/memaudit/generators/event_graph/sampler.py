"""Draws threads: what is told about whom."""

from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.parameters import Knobs
from memaudit.generators.event_graph.phrase import Person
from memaudit.generators.event_graph.threads.attribute import AttributeThread
from memaudit.generators.event_graph.threads.occasion import OccasionThread
from memaudit.generators.event_graph.threads.preference import PreferenceThread
from memaudit.generators.event_graph.threads.procedure import RuleThread, SkillThread
from memaudit.generators.event_graph.threads.protocol import Thread
from memaudit.generators.event_graph.threads.relation import RelationThread
from memaudit.generators.event_graph.threads.unknown import DeletionThread, OpenThread
from memaudit.generators.event_graph.words import attributes, names, occasions, rules, skills
from memaudit.generators.event_graph.words import secrets as hidden
from memaudit.generators.event_graph.words import topics as tastes

GENERAL_RULES = Fraction(1, 3)
"""The share of rules that are about things rather than about a person."""


@dataclass(slots=True)
class Sampler:
    """Draws threads about the people of one chapter; nothing is told twice as two threads."""

    dice: Dice
    knobs: Knobs
    used: set[tuple[str, ...]]
    """What has been told about whom, in all chapters; only ever asked, never gone through."""
    speaker: Person
    others: list[Person]
    edges: list[tuple[Person, Person]] = field(init=False)
    """Pairs that are still to be related, each new person to somebody met before."""

    def __post_init__(self) -> None:
        self.edges = []
        for place, person in enumerate(self.others):
            known = [self.speaker, *self.others[:place]]
            self.edges.append((self.dice.pick(known) if place else self.speaker, person))
        self.edges.reverse()

    def draw(self, kind: str, room: int, person: Person | None = None) -> Thread | None:
        """A thread of at most so many messages, or none if there is nothing left of that kind."""
        whom = person or self._somebody()
        match kind:
            case "chain":
                return self._attribute(whom, room, attributes.CHANGING, changes=True)
            case "state":
                return self._attribute(whom, room, attributes.CHANGING, changes=False)
            case "fact":
                return self._attribute(whom, room, attributes.LASTING, changes=False)
            case "preference":
                return self._preference(whom, room)
            case "interval":
                return self._occasion(whom, room, lasting=True)
            case "event":
                return self._occasion(whom, room, lasting=False)
            case "relation":
                return self._relation(room)
            case "rule":
                return self._rule(room)
            case "skill":
                return self._skill(whom, room)
            case "deletion":
                return self._deletion(whom, room)
            case _:
                return self._open(whom)

    def _somebody(self) -> Person:
        """The speaker in three of ten cases, else one of the others."""
        return self.speaker if self.dice.below(10) < 3 else self.dice.pick(self.others)

    def _new(self, *key: str) -> bool:
        """Whether this has not been told before; from now on it has."""
        if key in self.used:
            return False
        self.used.add(key)
        return True

    def _again(self, room: int) -> int:
        """How often a thing is told again, as far as there is room."""
        return 1 if room > 0 and self.dice.chance(self.knobs.redundancy) else 0

    def _attribute(
        self, person: Person, room: int, table: tuple[attributes.Attribute, ...], changes: bool
    ) -> Thread | None:
        attribute = self.dice.pick(table)
        count = self.dice.between(2, self.knobs.chain_length) if changes else 1
        count = min(count, room)
        if (changes and count < 2) or not self._new(person.name, attribute.verb.noun):
            return None
        again, left = [], room - count
        for _ in range(count):
            again.append(self._again(left))
            left -= again[-1]
        values = tuple(self.dice.shuffled(attribute.values)[:count])
        detail = self.dice.pick(attribute.details)
        return AttributeThread(person, attribute, values, tuple(again), detail)

    def _preference(self, person: Person, room: int) -> Thread | None:
        topic = self.dice.pick(tuple(tastes.TOPICS))
        if not self._new(person.name, topic):
            return None
        count, most = 1, min(room, 4)
        while count < most and self.dice.chance(self.knobs.scope_shifts):
            count += 1
        again, left = [], room - count
        for _ in range(count):
            again.append(self._again(left))
            left -= again[-1]
        places = tastes.SCOPES if topic in tastes.PRACTICAL else tastes.MORE_SCOPES
        scopes = tuple(self.dice.shuffled(places)[:count])
        values = tuple(self.dice.shuffled(tastes.TOPICS[topic])[:count])
        return PreferenceThread(person, topic, scopes, values, tuple(again))

    def _occasion(self, person: Person, room: int, lasting: bool) -> Thread | None:
        article, what = self.dice.pick(occasions.LASTING if lasting else occasions.SINGLE)
        if not self._new(person.name, what):
            return None
        length = self.dice.between(2, 30) if lasting else 0
        place = self.dice.pick(occasions.PLACES)
        return OccasionThread(person, article, what, length, place, self._again(room - 1))

    def _relation(self, room: int) -> Thread | None:
        if not self.edges:
            return None
        source, target = self.edges.pop()
        if source.speaks and self._spent(source):
            source = self.others[0] if target is not self.others[0] else source
        label = self._label(source, target)
        if label is None:
            return None
        return RelationThread(source, label, target, self._again(room - 1))

    def _spent(self, source: Person) -> bool:
        """Whether every label the speaker can give has been given."""
        return all((source.name, "is", label) in self.used for label in names.USER_RELATIONS)

    def _label(self, source: Person, target: Person) -> str | None:
        wrong = ("brother", "uncle") if target.they == "she" else ("sister", "aunt", "godmother")
        table = names.USER_RELATIONS if source.speaks else names.RELATIONS
        for label in self.dice.shuffled(table):
            if label not in wrong and self._new(source.name, "is", label):
                return label
        return None

    def _rule(self, room: int) -> Thread | None:
        general = self.dice.chance(GENERAL_RULES)
        family = self.dice.pick(rules.GENERAL if general else rules.PERSONAL)
        fills = {"n": self.dice.pick(rules.NUMBERS), "name": self.dice.pick(self.others).name}
        when = family.when.format_map(fills)
        if not self._new("", when):
            return None
        action = self.dice.pick(family.actions)
        unless = self.dice.pick(family.unless).format_map(fills)
        reason = self.dice.pick(family.reasons)
        return RuleThread(when, action, unless, reason, self._again(room - 1))

    def _skill(self, person: Person, room: int) -> Thread | None:
        goal, steps = self.dice.pick(skills.SKILLS)
        if not self._new(person.name, goal):
            return None
        first, second, third = sorted(self.dice.shuffled(range(len(steps)))[:3])
        chosen = (steps[first], steps[second], steps[third])
        return SkillThread(person, goal, chosen, self._again(room - 1))

    def _deletion(self, person: Person, room: int) -> Thread | None:
        what, form = self.dice.pick(hidden.SECRETS)
        if room < 2 or not self._new(person.name, what):
            return None
        digits = {
            "a": self.dice.between(100, 999), "b": self.dice.between(1000, 9999),
            "c": self.dice.between(10, 99),
        }  # fmt: skip
        return DeletionThread(person, what, form.format_map(digits))

    def _open(self, person: Person) -> Thread | None:
        what, question = self.dice.pick(hidden.OPEN)
        if not self._new(person.name, what):
            return None
        return OpenThread(person, what, question)

"""Draws threads: what is told about which person."""

from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.lab.generators.event_graph.attribute_thread import AttributeThread
from memaudit.lab.generators.event_graph.dice import Dice
from memaudit.lab.generators.event_graph.parameters import Parameters
from memaudit.lab.generators.event_graph.templates import Person
from memaudit.lab.generators.event_graph.threads import (
    DeletionThread,
    OccasionThread,
    OpenThread,
    PreferenceThread,
    RelationThread,
    RuleThread,
    SkillThread,
    Thread,
)
from memaudit.lab.generators.event_graph.vocabulary import Attribute, vocabulary

GENERAL_RULES = Fraction(1, 3)
"""The share of rules about things rather than persons."""


@dataclass(slots=True)
class Sampler:
    """Draws threads about the people of one chapter; nothing is told twice as two threads."""

    dice: Dice
    parameters: Parameters
    used: set[tuple[str, ...]]
    """What has been told about whom, in all chapters."""
    speaker: Person
    others: list[Person]
    edges: list[tuple[Person, Person]] = field(init=False)
    """Pairs still to be related, each new person to somebody met before."""

    def __post_init__(self) -> None:
        self.edges = []
        for place, person in enumerate(self.others):
            known = [self.speaker, *self.others[:place]]
            self.edges.append((self.dice.pick(known) if place else self.speaker, person))
        self.edges.reverse()

    def draw(self, kind: str, room: int, person: Person | None = None) -> Thread | None:
        """A thread of at most `room` messages, or None if this draw was told before."""
        about = person or self._somebody()
        changing, lasting = vocabulary().attributes.changing, vocabulary().attributes.lasting
        match kind:
            case "chain":
                return self._attribute(about, room, changing, changes=True)
            case "state":
                return self._attribute(about, room, changing, changes=False)
            case "fact":
                return self._attribute(about, room, lasting, changes=False)
            case "preference":
                return self._preference(about, room)
            case "interval":
                return self._occasion(about, room, lasting=True)
            case "event":
                return self._occasion(about, room, lasting=False)
            case "relation":
                return self._relation(room)
            case "rule":
                return self._rule(room)
            case "skill":
                return self._skill(about, room)
            case "deletion":
                return self._deletion(about, room)
            case _:
                return self._open(about)

    def _somebody(self) -> Person:
        """The speaker in three of ten cases, otherwise one of the others."""
        return self.speaker if self.dice.below(10) < 3 else self.dice.pick(self.others)

    def _new(self, *key: str) -> bool:
        """Whether this has not been told before; from now on it has."""
        if key in self.used:
            return False
        self.used.add(key)
        return True

    def _repeat(self, room: int) -> int:
        """How often a thing is told again: once or not at all, if there is room."""
        return 1 if room > 0 and self.dice.chance(self.parameters.redundancy) else 0

    def _repeats(self, count: int, room: int) -> tuple[int, ...]:
        """How often each of several values is told again within the room they share."""
        repeats: list[int] = []
        for _ in range(count):
            repeats.append(self._repeat(room - sum(repeats)))
        return tuple(repeats)

    def _attribute(
        self, person: Person, room: int, table: tuple[Attribute, ...], changes: bool
    ) -> Thread | None:
        attribute = self.dice.pick(table)
        count = self.dice.between(2, self.parameters.chain_length) if changes else 1
        count = min(count, room)
        if (changes and count < 2) or not self._new(person.name, attribute.verb.noun):
            return None
        repeats = self._repeats(count, room - count)
        values = tuple(self.dice.shuffled(attribute.values)[:count])
        detail = self.dice.pick(attribute.details)
        return AttributeThread(person, attribute, values, repeats, detail)

    def _preference(self, person: Person, room: int) -> Thread | None:
        words = vocabulary().preferences
        topic = self.dice.pick(tuple(words.topics))
        if not self._new(person.name, topic):
            return None
        count, most = 1, min(room, 4)
        while count < most and self.dice.chance(self.parameters.scope_shifts):
            count += 1
        repeats = self._repeats(count, room - count)
        social = () if topic in words.practical else words.social_scopes
        scopes = tuple(self.dice.shuffled(words.scopes + social)[:count])
        values = tuple(self.dice.shuffled(words.topics[topic])[:count])
        return PreferenceThread(person, topic, scopes, values, repeats)

    def _occasion(self, person: Person, room: int, lasting: bool) -> Thread | None:
        words = vocabulary().occasions
        events = (words.lasting if lasting else words.single).events
        article, what = self.dice.pick(events).split(" ", 1)
        if not self._new(person.name, what):
            return None
        length = self.dice.between(2, 30) if lasting else 0
        place = self.dice.pick(words.places)
        return OccasionThread(person, article, what, length, place, self._repeat(room - 1))

    def _relation(self, room: int) -> Thread | None:
        if not self.edges:
            return None
        source, target = self.edges.pop()
        if source.speaks and self._spent(source):
            source = self.others[0] if target is not self.others[0] else source
        label = self._label(source, target)
        if label is None:
            return None
        return RelationThread(source, label, target, self._repeat(room - 1))

    def _spent(self, source: Person) -> bool:
        """Whether the speaker has used every label."""
        labels = vocabulary().relations.speaker_labels
        return all((source.name, "is", label) in self.used for label in labels)

    def _label(self, source: Person, target: Person) -> str | None:
        wrong = ("brother", "uncle") if target.they == "she" else ("sister", "aunt", "godmother")
        words = vocabulary().relations
        for label in self.dice.shuffled(words.speaker_labels if source.speaks else words.labels):
            if label not in wrong and self._new(source.name, "is", label):
                return label
        return None

    def _rule(self, room: int) -> Thread | None:
        words = vocabulary().rules
        general = self.dice.chance(GENERAL_RULES)
        family = self.dice.pick(words.general if general else words.personal)
        fills = {"n": self.dice.pick(words.numbers), "name": self.dice.pick(self.others).name}
        when = family.when.format_map(fills)
        if not self._new("", when):
            return None
        action = self.dice.pick(family.actions)
        unless = self.dice.pick(family.unless).format_map(fills)
        reason = self.dice.pick(family.reasons)
        return RuleThread(when, action, unless, reason, self._repeat(room - 1))

    def _skill(self, person: Person, room: int) -> Thread | None:
        procedure = self.dice.pick(vocabulary().skills.procedures)
        steps = procedure.steps
        if not self._new(person.name, procedure.goal):
            return None
        first, second, third = sorted(self.dice.shuffled(range(len(steps)))[:3])
        chosen = (steps[first], steps[second], steps[third])
        return SkillThread(person, procedure.goal, chosen, self._repeat(room - 1))

    def _deletion(self, person: Person, room: int) -> Thread | None:
        what, form = self.dice.pick(vocabulary().deletions.secrets)
        if room < 2 or not self._new(person.name, what):
            return None
        digits = {
            "a": self.dice.between(100, 999),
            "b": self.dice.between(1000, 9999),
            "c": self.dice.between(10, 99),
        }
        return DeletionThread(person, what, form.format_map(digits))

    def _open(self, person: Person) -> Thread | None:
        what, question = self.dice.pick(vocabulary().open_decisions.decisions)
        if not self._new(person.name, what):
            return None
        return OpenThread(person, what, question)

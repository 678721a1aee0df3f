"""The plan of a stream: its people and threads, and chapter by chapter which message tells what."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from memaudit.lab.sweeps.generators.event_graph.attribute_thread import AttributeThread
from memaudit.lab.sweeps.generators.event_graph.parameters import Dice, Parameters
from memaudit.lab.sweeps.generators.event_graph.templates import Person
from memaudit.lab.sweeps.generators.event_graph.threads import (
    DeletionThread,
    OccasionThread,
    OpenThread,
    PreferenceThread,
    RelationThread,
    RuleThread,
    SkillThread,
    Thread,
)
from memaudit.lab.sweeps.generators.event_graph.vocabulary import Attribute, vocabulary

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
        # Drawn in order of appearance and popped from the end: nobody is related to a stranger.
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
        # `room` is what is left of the chapter, since no thread goes beyond its chapter.
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
        # Any three steps, in their order: the text numbers them.
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


@dataclass(slots=True)
class People:
    """New people; a name is never used twice."""

    dice: Dice
    expected: int
    """How many will be needed. If there are too few first names, everybody has a surname."""
    _names: list[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        words = vocabulary().names
        firsts = [*((name, "she") for name in words.she), *((name, "he") for name in words.he)]
        if self.expected > len(firsts):
            firsts = [(f"{name} {last}", they) for name, they in firsts for last in words.surnames]
        self._names = self.dice.shuffled(firsts)

    def speaker(self) -> Person:
        name, they = self._names.pop()
        return Person(name, they, speaks=True)

    def others(self, count: int) -> list[Person]:
        return [Person(*self._names.pop()) for _ in range(count)]


CHAPTER = 40
"""Approximate messages per chapter. Links between messages never leave their chapter."""

MIX = (
    *("fact",) * 4,
    *("state",) * 2,
    *("preference",) * 4,
    *("event",) * 2,
    *("relation",) * 5,
    *("rule",) * 2,
    "skill",
    "deletion",
    *("open",) * 2,
)
"""What is told besides updates and intervals."""

MERGED = Fraction(1, 6)
"""How often two neighbouring short things share a message."""

ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class Beat:
    """One telling of a thread, by the thread's number."""

    thread: int
    turn: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """Threads, and for each message the beats it holds; none for small talk."""

    threads: tuple[Thread, ...]
    core: int
    """How many of the first threads have all their questions asked."""
    messages: tuple[tuple[Beat, ...], ...]


def chapters(dice: Dice, parameters: Parameters) -> tuple[Person, list[Chapter]]:
    """The speaker, and the whole stream chapter by chapter."""
    count = max(1, (parameters.experiences + CHAPTER // 2) // CHAPTER)
    # Rounded down at every cut: chapters differ by one message at most and add up exactly.
    cuts = [parameters.experiences * place // count for place in range(count + 1)]
    sizes = [after - before for before, after in pairwise(cuts)]
    people = People(dice, 1 + sum(_cast(size) for size in sizes))
    speaker = people.speaker()
    used: set[tuple[str, ...]] = set()
    planned = []
    for place, size in enumerate(sizes):
        sampler = Sampler(dice, parameters, used, speaker, people.others(_cast(size)))
        chat = _share(parameters.distractors, cuts[place], cuts[place + 1])
        planned.append(_chapter(sampler, size - chat, chat, core=place == 0))
    return speaker, planned


def _cast(size: int) -> int:
    """How many others a chapter is about."""
    return max(2, min(6, size // 7))


def _share(share: Fraction, start: int, end: int) -> int:
    """Small-talk messages in a range, so that the counts add up over the stream."""
    return int(end * share) - int(start * share)


def _chapter(sampler: Sampler, room: int, chat: int, core: bool) -> Chapter:
    threads = _core(sampler, room) if core else []
    core_count = len(threads)
    left = room - sum(thread.beats for thread in threads)
    while left > 0:
        thread = _draw(sampler, left)
        threads.append(thread)
        left -= thread.beats
    messages = _merged(sampler.dice, threads, _interleaved(sampler.dice, threads))
    # Merging freed messages. They are filled with single threads at random places, so the stream
    # has exactly the asked length.
    while len(messages) < room:
        threads.append(_single(sampler))
        place = sampler.dice.below(len(messages) + 1)
        messages.insert(place, (Beat(len(threads) - 1, 0),))
    # Small talk last: it must not take part in merging.
    for _ in range(chat):
        messages.insert(sampler.dice.below(len(messages) + 1), ())
    return Chapter(tuple(threads), core_count, tuple(messages))


def _core(sampler: Sampler, room: int) -> list[Thread]:
    """The threads every stream begins with, so that short ones have all kinds of questions."""
    parameters, friend = sampler.parameters, sampler.others[0]
    chain = "chain" if parameters.update_rate else "state"
    event = "interval" if parameters.interval_rate else "event"
    wanted: list[tuple[str, Person | None]] = [
        ("relation", None),
        (chain, friend),
        (event, None),
        ("open", None),
        ("rule", None),
        ("skill", None),
        ("deletion", None),
        ("preference", None),
        ("fact", None),
    ]
    threads: list[Thread] = []
    for kind, person in wanted:
        left = room - sum(thread.beats for thread in threads)
        need = 2 if kind in ("chain", "deletion") else 1
        if left >= need:
            thread = _attempt(sampler, kind, min(left, need), person)
            threads += [thread] if thread else []
    return threads


def _draw(sampler: Sampler, room: int) -> Thread:
    """The next thread of a chapter, drawn by the parameters."""
    dice, parameters = sampler.dice, sampler.parameters
    if dice.chance(parameters.update_rate):
        kind = "chain"
    elif dice.chance(parameters.interval_rate):
        kind = "interval"
    else:
        kind = dice.pick(MIX)
    return _attempt(sampler, kind, room) or _single(sampler)


def _attempt(sampler: Sampler, kind: str, room: int, person: Person | None = None) -> Thread | None:
    """A thread of a kind. A draw can hit what was told before, so there are several attempts."""
    for _ in range(ATTEMPTS):
        thread = sampler.draw(kind, room, person)
        if thread is not None:
            return thread
    return None


def _single(sampler: Sampler) -> Thread:
    """A thread of one message, of whichever kind has something left."""
    while True:
        for kind in ("fact", "preference", "event", "open", "state", "skill", "rule"):
            thread = sampler.draw(kind, 1)
            if thread is not None:
                return thread


def _interleaved(dice: Dice, threads: list[Thread]) -> list[tuple[Beat, ...]]:
    """All beats in one order: those of a thread in turn and far apart, relations first."""
    keyed = []
    for number, thread in enumerate(threads):
        for turn in range(thread.beats):
            # Within its stretch a beat keeps to the first 3/5, so two of a thread are never close.
            key = Fraction(turn, thread.beats) + Fraction(dice.below(600), 1000 * thread.beats)
            keyed.append((key / 3 if thread.early else key, dice.bits(), Beat(number, turn)))
    # Random bits decide ties. The beats themselves have no order.
    keyed.sort(key=lambda entry: entry[:2])
    return [(beat,) for _, _, beat in keyed]


def _short(thread: Thread) -> bool:
    """Whether it is told in one message that has room for something else."""
    return thread.beats == 1 and not isinstance(thread, RuleThread | SkillThread)


def _merged(
    dice: Dice, threads: list[Thread], messages: list[tuple[Beat, ...]]
) -> list[tuple[Beat, ...]]:
    """Merge some neighbouring threads of one message each."""
    merged: list[tuple[Beat, ...]] = []
    for message in messages:
        short = _short(threads[message[0].thread])
        if short and merged and len(merged[-1]) == 1 and dice.chance(MERGED):
            before = merged[-1][0]
            if _short(threads[before.thread]):
                merged[-1] = (before, *message)
                continue
        merged.append(message)
    return merged

"""Threads: what is told about one thing, in one or several messages.

The order of draws from the dice is part of every thread: changing it changes every package.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

from memaudit.kernel.package.package import ABSTENTION, DELETION, STALE, TEMPORAL
from memaudit.lab.sweeps.generators.event_graph.hidden_graph import HiddenGraph
from memaudit.lab.sweeps.generators.event_graph.parameters import Dice
from memaudit.lab.sweeps.generators.event_graph.templates import (
    Atom,
    Person,
    Piece,
    Relation,
    Scene,
    own_role,
    render,
)
from memaudit.lab.sweeps.generators.event_graph.vocabulary import Templates, vocabulary

_YEAR = "January February March April May June July August September October November December"
MONTHS = _YEAR.split()

Memories = tuple[tuple[str, Piece], ...]
"""Candidates that could be stored: kind and text."""

NOTHING = Piece("")
"""What a summary leaves out."""

NOT_KNOWN = "not known"
"""The answer where a memory should abstain."""


@dataclass(frozen=True, slots=True)
class Telling:
    """One thing said: the sentence, what could be stored of it, and how a summary puts it."""

    message: Piece
    stored: Memories
    brief: Piece
    roots: tuple[int, ...]
    """The atoms that have their source here."""

    @classmethod
    def faithful(
        cls, message: Piece, stored: Sequence[tuple[str, Piece]], brief: Piece, *roots: Atom
    ) -> "Telling":
        """A telling of which nothing is stored that its message does not say."""
        said = frozenset(message.stated)
        kept = tuple((kind, piece) for kind, piece in stored if said.issuperset(piece.stated))
        brief = brief if said.issuperset(brief.stated) else NOTHING
        return cls(message, kept, brief, tuple(atom.number for atom in roots))


class Thread(Protocol):
    """Something that is told in a number of messages, in order."""

    @property
    def beats(self) -> int:
        """How many messages it takes."""
        ...

    @property
    def early(self) -> bool:
        """Whether it belongs to the first part of its chapter."""
        ...

    def write(self, graph: HiddenGraph, days: tuple[date, ...]) -> list[Telling]:
        """Its messages, given the day of each; adds atoms and questions to the graph."""
        ...


def spoken(day: date) -> str:
    """A date in words: 14 March 2025."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def shifted(day: date, dice: Dice, low: int, high: int) -> date:
    """A day that is a random number of days later, or earlier if negative."""
    return day + timedelta(days=dice.between(low, high))


def phrase(dice: Dice, templates: Templates, scene: Scene, first: bool = False) -> Piece:
    """One of the templates, filled in."""
    return render(dice.pick(templates), scene, first)


def memories(dice: Dice, scene: Scene, *offers: tuple[str, Templates]) -> Memories:
    """One candidate for each kind and its templates."""
    return tuple((kind, phrase(dice, templates, scene)) for kind, templates in offers)


def tellings_of(
    dice: Dice,
    atom: Atom,
    scene: Scene,
    openings: Sequence[Templates],
    offers: Sequence[tuple[str, Templates]],
    brief: Templates,
    said: Scene | None = None,
    first: bool = False,
) -> list[Telling]:
    """One telling of an atom for each of the `openings`.

    `offers` are what could be stored of each, `brief` is how a summary puts it. The message is
    drawn first, then what is stored, then the brief. `said` is the scene of the message, where it
    differs, and `first` lets the speaker say I.
    """
    return [
        Telling.faithful(
            phrase(dice, templates, said or scene, first),
            memories(dice, scene, *offers),
            phrase(dice, brief, scene),
            atom,
        )
        for templates in openings
    ]


@dataclass(frozen=True, slots=True)
class RelationThread:
    """Who somebody is to somebody else: an edge of the graph."""

    source: Person
    label: str
    target: Person
    repeats: int
    early: bool = True

    @property
    def beats(self) -> int:
        return 1 + self.repeats

    def write(self, graph: HiddenGraph, days: tuple[date, ...]) -> list[Telling]:
        words, dice = vocabulary().relations, graph.dice
        slots = {
            "who": self.source.forms,
            "label": (self.label,),
            "other": (self.target.name,),
        }
        text = f"{self.target.name} is {self.source.name}'s {self.label}."
        atom = graph.add("relation", slots, text, days[0], ("who", "label"))
        fills = {"label": self.label, "other": self.target.name}
        scene = Scene(self.source, fills, (own_role(atom),))
        graph.relations.append(Relation(self.source, self.label, self.target, atom.number))
        graph.ask("single_hop", words.ask, scene, self.target.name, (atom,))
        openings = (words.tell, *(words.tell_again,) * self.repeats)
        offers = (("edge", words.edge), ("fact", words.fact))
        return tellings_of(dice, atom, scene, openings, offers, words.brief, first=True)


@dataclass(frozen=True, slots=True)
class PreferenceThread:
    """What somebody likes, place by place, and how often each is told again."""

    person: Person
    topic: str
    scopes: tuple[str, ...]
    values: tuple[str, ...]
    repeats: tuple[int, ...]
    early: bool = False

    @property
    def beats(self) -> int:
        return len(self.values) + sum(self.repeats)

    def write(self, graph: HiddenGraph, days: tuple[date, ...]) -> list[Telling]:
        words, dice = vocabulary().preferences, graph.dice
        tellings: list[Telling] = []
        for place, value in enumerate(self.values):
            scope, day = self.scopes[place], days[len(tellings)]
            fills = {"what": self.topic, "value": value, "scope": scope}
            slots = {"who": self.person.forms} | {name: (text,) for name, text in fills.items()}
            text = f"{self.person.name} prefers {value} for {self.topic} {scope}."
            atom = graph.add("preference", slots, text, day, ("who", "what"))
            scene = Scene(self.person, fills, (own_role(atom),))
            opening = words.shift if place else words.tell
            for templates in (opening, *(words.tell_again,) * self.repeats[place]):
                stored = memories(
                    dice,
                    scene,
                    ("fact", words.fact),
                    ("fact", words.fact_short),
                    ("edge", words.edge),
                )
                message, brief = (
                    phrase(dice, templates, scene, True),
                    phrase(dice, words.brief, scene),
                )
                tellings.append(Telling.faithful(message, stored, brief, atom))
            graph.ask("single_hop", words.ask, scene, value, (atom,), hop=True)
        return tellings


@dataclass(frozen=True, slots=True)
class OccasionThread:
    """An event over several days, or on one day at a place."""

    person: Person
    article: str
    what: str
    length: int
    """Days; 0 for an event on one day."""
    place: str
    repeats: int
    early: bool = False

    @property
    def beats(self) -> int:
        return 1 + self.repeats

    def write(self, graph: HiddenGraph, days: tuple[date, ...]) -> list[Telling]:
        words, dice, lasting = vocabulary().occasions, graph.dice, self.length > 0
        own_words = words.lasting if lasting else words.single
        start = shifted(days[-1], dice, 2, 40)
        begins, ends = spoken(start), spoken(start + timedelta(days=self.length))
        fills = {"what": self.what, "start": begins}
        fills |= {"end": ends} if lasting else {"place": self.place}
        slots = {"who": self.person.forms} | {name: (text,) for name, text in fills.items()}
        rest = f"from {begins} to {ends}" if lasting else f"on {begins} at {self.place}"
        text = f"{self.person.name} has {self.article} {self.what} {rest}."
        atom = graph.add(TEMPORAL if lasting else "event", slots, text, days[0])
        scene = Scene(self.person, {"a": self.article, **fills}, (own_role(atom),))
        template, asked = dice.pick(own_words.ask)
        graph.ask("temporal", template, scene, fills[asked], (atom,), hop=asked != "what")
        tellings: list[Telling] = []
        for place in range(self.beats):
            stored = memories(
                dice,
                scene,
                ("event", own_words.event),
                ("fact", own_words.fact),
                ("edge", words.edge),
            )
            message = phrase(dice, own_words.tell_again if place else own_words.tell, scene, True)
            brief = phrase(dice, words.brief, scene)
            tellings.append(Telling.faithful(message, stored, brief, atom))
        return tellings


@dataclass(frozen=True, slots=True)
class RuleThread:
    """A standing rule: when it applies, what to do, the exception, and the reason."""

    when: str
    action: str
    unless: str
    reason: str
    repeats: int
    early: bool = False

    @property
    def beats(self) -> int:
        return 1 + self.repeats

    def write(self, graph: HiddenGraph, days: tuple[date, ...]) -> list[Telling]:
        words, dice = vocabulary().rules, graph.dice
        fills = {
            "when": self.when,
            "action": self.action,
            "unless": self.unless,
            "reason": self.reason,
        }
        text = f"Whenever {self.when}, {self.action}, except {self.unless}, because {self.reason}."
        atom = graph.add("rule", {name: (text,) for name, text in fills.items()}, text, days[0], ())
        scene = Scene(None, fills, (own_role(atom),))
        graph.ask("single_hop", words.ask, scene, self.action, (atom,))
        openings = (words.tell, *(words.tell_again,) * self.repeats)
        offers = (("rule", words.rule), ("fact", words.fact))
        return tellings_of(dice, atom, scene, openings, offers, words.brief)


@dataclass(frozen=True, slots=True)
class SkillThread:
    """How to do something, in three steps."""

    person: Person
    goal: str
    steps: tuple[str, str, str]
    repeats: int
    early: bool = False

    @property
    def beats(self) -> int:
        return 1 + self.repeats

    def write(self, graph: HiddenGraph, days: tuple[date, ...]) -> list[Telling]:
        words, dice = vocabulary().skills, graph.dice
        owner = Scene(self.person, {}, ())
        own, goal = render(self.goal, owner, True).text, render(self.goal, owner).text
        steps = {f"step{place + 1}": step for place, step in enumerate(self.steps)}
        slots = {"goal": (goal, own)} | {name: (step,) for name, step in steps.items()}
        text = f"To {goal}: {', '.join(self.steps)}."
        atom = graph.add("skill", slots, text, days[0], ())
        told = Scene(self.person, {"goal": own, **steps}, (own_role(atom),))
        scene = Scene(self.person, {"goal": goal, **steps}, (own_role(atom),))
        template, asked = dice.pick(words.ask)
        graph.ask("single_hop", template, scene, steps[asked], (atom,))
        openings = (words.tell, *(words.tell_again,) * self.repeats)
        offers = (("skill", words.skill), ("fact", words.fact))
        return tellings_of(dice, atom, scene, openings, offers, words.brief, said=told)


@dataclass(frozen=True, slots=True)
class DeletionThread:
    """Something told that is to be forgotten later, without a new value."""

    person: Person
    what: str
    value: str
    early: bool = False
    beats = 2

    def write(self, graph: HiddenGraph, days: tuple[date, ...]) -> list[Telling]:
        words, dice = vocabulary().deletions, graph.dice
        who, name = self.person.forms, self.person.name
        told = {"who": who, "what": (self.what,), "value": (self.value,)}
        text = f"{name}'s {self.what} is {self.value}."
        old = graph.add(STALE, told, text, days[0], ("who", "what"))
        gone = {"who": who, "what": (self.what,), "gone": words.gone, "none": words.none}
        end = graph.add(DELETION, gone, f"{name}'s {self.what} was deleted on request.", days[1])
        fills = {"what": self.what, "value": self.value}
        before = Scene(self.person, fills, (own_role(old),))
        after = Scene(self.person, {"what": self.what}, (own_role(end),))
        graph.ask("abstention", words.ask, after, NOT_KNOWN, (end,))
        kept = (("fact", words.fact), ("edge", words.edge))
        gone_offers = (("tombstone", words.tombstone), ("fact", words.forget_fact))
        return [
            *tellings_of(dice, old, before, (words.tell,), kept, words.brief, first=True),
            *tellings_of(
                dice, end, after, (words.forget,), gone_offers, words.forget_brief, first=True
            ),
        ]


@dataclass(frozen=True, slots=True)
class OpenThread:
    """Something that is undecided, so that a question about it has no answer."""

    person: Person
    what: str
    question: str
    early: bool = False
    beats = 1

    def write(self, graph: HiddenGraph, days: tuple[date, ...]) -> list[Telling]:
        words, dice = vocabulary().open_decisions, graph.dice
        by = spoken(shifted(days[0], dice, 30, 120))
        slots = {
            "who": self.person.forms,
            "what": (self.what,),
            "open": words.undecided,
            "by": (by,),
        }
        text = f"{self.person.name} has not decided {self.what}, and won't before {by}."
        atom = graph.add(ABSTENTION, slots, text, days[0])
        scene = Scene(self.person, {"what": self.what, "by": by}, (own_role(atom),))
        graph.ask("abstention", self.question, scene, NOT_KNOWN, (atom,))
        stored = memories(dice, scene, ("fact", words.fact), ("fact", words.fact_short))
        message, brief = phrase(dice, words.tell, scene, True), phrase(dice, words.brief, scene)
        return [Telling.faithful(message, stored, brief, atom)]

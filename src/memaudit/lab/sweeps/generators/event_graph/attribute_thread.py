"""An attribute of a person: told, replaced once or several times, told again."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from memaudit.kernel.package.package import CURRENT, STALE, SUPERSESSION
from memaudit.lab.sweeps.generators.event_graph.hidden_graph import ONCE, HiddenGraph
from memaudit.lab.sweeps.generators.event_graph.templates import Atom, Person, Role, Scene, own_role
from memaudit.lab.sweeps.generators.event_graph.threads import (
    Telling,
    memories,
    phrase,
    shifted,
    spoken,
)
from memaudit.lab.sweeps.generators.event_graph.vocabulary import Attribute, Templates, vocabulary

SILENT = Fraction(1, 4)
"""How often a change is told without mentioning the old value."""

SHORTER = Fraction(1, 2)
"""How often a shorter fact that drops a slot is offered as well."""

_SHARED = ("who", "what")


@dataclass(frozen=True, slots=True)
class AttributeThread:
    """Values in order, and how often each is told again before the next one."""

    person: Person
    attribute: Attribute
    values: tuple[str, ...]
    repeats: tuple[int, ...]
    detail: str
    early: bool = False

    @property
    def beats(self) -> int:
        return len(self.values) + sum(self.repeats)

    def write(self, graph: HiddenGraph, days: tuple[date, ...]) -> list[Telling]:
        words = vocabulary().attributes
        tellings: list[Telling] = []
        atoms: list[Atom] = []
        ends: list[Atom] = []
        last = days[0]
        for place, value in enumerate(self.values):
            day = days[len(tellings)]
            if place == 0:
                atom, scene = self._first(graph, value, day)
                tell = words.tell + words.tell_now if self.attribute.before else words.tell
                telling = self._told(graph, scene, atom, tell)
            else:
                atom, end, scene = self._next(graph, atoms[-1], place, last, day)
                ends.append(end)
                telling = self._changed(graph, scene, atom, end)
            last = day
            atoms.append(atom)
            tellings.append(telling)
            for _ in range(self.repeats[place]):
                tellings.append(self._repeated(graph, scene, atom, place))
        self._questions(graph, atoms, ends)
        return tellings

    def _kind(self, place: int) -> str:
        if place < len(self.values) - 1:
            return STALE
        return CURRENT if self.attribute.before else "fact"

    def _first(self, graph: HiddenGraph, value: str, day: date) -> tuple[Atom, Scene]:
        verb = self.attribute.verb
        fills = {"value": value, "detail": self.detail}
        slots = {
            "who": self.person.forms,
            "what": verb.forms,
            "value": (value,),
            "detail": (self.detail,),
        }
        text = f"{self.person.name} {verb.third} {value}, {self.detail}."
        atom = graph.add(self._kind(0), slots, text, day, _SHARED)
        return atom, Scene(self.person, fills, (own_role(atom),), verb)

    def _next(
        self, graph: HiddenGraph, before: Atom, place: int, last: date, day: date
    ) -> tuple[Atom, Atom, Scene]:
        """The next value, which began between the day the last one was told and now."""
        verb, name = self.attribute.verb, self.person.name
        old, new = self.values[place - 1], self.values[place]
        gap = (day - last).days
        # Not before the old value was told last, or two statements of the stream would contradict.
        since = spoken(shifted(day, graph.dice, -min(20, max(0, gap - 1)), 0))
        stated = {"who": self.person.forms, "what": verb.forms}
        atom = graph.add(
            self._kind(place),
            {**stated, "value": (new,), "since": (since,)},
            f"As of {since}, {name} {verb.third} {new}.",
            day,
            _SHARED,
        )
        end = graph.add(
            SUPERSESSION,
            {**stated, "old": (old,), "ended": vocabulary().attributes.ended},
            f"{name} no longer {verb.third} {old}.",
            day,
            (*_SHARED, "ended"),
        )
        roles = (
            Role(atom, {"who": "who", "what": "what", "new": "value", "since": "since"}),
            Role(before, {"who": "who", "what": "what", "old": "value"}),
            own_role(end),
        )
        return atom, end, Scene(self.person, {"old": old, "new": new, "since": since}, roles, verb)

    def _told(self, graph: HiddenGraph, scene: Scene, atom: Atom, templates: Templates) -> Telling:
        words, dice = vocabulary().attributes, graph.dice
        stored = [("fact", phrase(dice, words.fact, scene))]
        if dice.chance(SHORTER):
            stored.append(("fact", phrase(dice, words.fact_short, scene)))
        stored.append(("edge", phrase(dice, words.edge, scene)))
        message, brief = phrase(dice, templates, scene, True), phrase(dice, words.brief, scene)
        return Telling.faithful(message, stored, brief, atom)

    def _changed(self, graph: HiddenGraph, scene: Scene, atom: Atom, end: Atom) -> Telling:
        words, dice = vocabulary().attributes, graph.dice
        templates = words.change_silent if dice.chance(SILENT) else words.change
        stored = memories(
            dice,
            scene,
            ("fact", words.fact_now),
            ("edge", words.edge_now),
            ("compound_update", words.compound),
            ("tombstone", words.tombstone),
        )
        message, brief = phrase(dice, templates, scene, True), phrase(dice, words.brief_now, scene)
        return Telling(message, stored, brief, (atom.number, end.number))

    def _repeated(self, graph: HiddenGraph, scene: Scene, atom: Atom, place: int) -> Telling:
        words, dice = vocabulary().attributes, graph.dice
        if place == 0:
            return self._told(graph, scene, atom, words.tell_again)
        stored = memories(dice, scene, ("fact", words.fact_now), ("edge", words.edge_now))
        message = phrase(dice, words.change_again, scene, True)
        return Telling.faithful(message, stored, phrase(dice, words.brief_now, scene), atom)

    def _questions(self, graph: HiddenGraph, atoms: list[Atom], ends: list[Atom]) -> None:
        attribute, words, now = self.attribute, vocabulary().attributes, atoms[-1]
        scene = Scene(self.person, {}, (), attribute.verb)
        kind = "current_truth" if now.kind == CURRENT else "single_hop"
        graph.ask(kind, attribute.ask, scene, self.values[-1], (now,), hop=True)
        for place, end in enumerate(ends):
            old = Scene(self.person, {"old": self.values[place]}, (), attribute.verb)
            if len(ends) > 1 or graph.dice.chance(Fraction(3, 4)):
                graph.ask("supersession", words.ask_superseded, old, self.values[-1], (end, now))
            else:
                graph.ask("supersession", words.ask_ended, old, self.values[place], (end,))
        if len(atoms) > 1 and graph.dice.chance(Fraction(1, 3)):
            graph.ask("temporal", attribute.before, scene, self.values[0], (atoms[0],), ONCE)

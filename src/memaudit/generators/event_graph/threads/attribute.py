"""An attribute of a person: told, replaced once or several times, told again."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from memaudit.core.package import CURRENT, STALE, SUPERSESSION
from memaudit.generators.event_graph.phrase import Atom, Person, Piece, Role, Scene, plain_role
from memaudit.generators.event_graph.questions import ONCE, Book
from memaudit.generators.event_graph.threads.protocol import Telling, one_of, shifted, spoken
from memaudit.generators.event_graph.words import statements as said
from memaudit.generators.event_graph.words.attributes import Attribute

SILENT = Fraction(1, 4)
"""How often a change is told without a word about the old value."""

SHORTER = Fraction(1, 2)
"""How often a shorter fact that drops a slot is offered as well."""

_SHARED = ("who", "what")


@dataclass(frozen=True, slots=True)
class AttributeThread:
    """Values in order, and how often each is told again before the next one."""

    person: Person
    attribute: Attribute
    values: tuple[str, ...]
    again: tuple[int, ...]
    detail: str
    early: bool = False

    @property
    def beats(self) -> int:
        return len(self.values) + sum(self.again)

    def write(self, book: Book, days: tuple[date, ...]) -> list[Telling]:
        tellings: list[Telling] = []
        atoms: list[Atom] = []
        ends: list[Atom] = []
        last = days[0]
        for place, value in enumerate(self.values):
            day = days[len(tellings)]
            if place == 0:
                atom, scene = self._first(book, value, day)
                tell = said.TELL_STATE if self.attribute.before else said.TELL
                telling = self._told(book, scene, atom, tell)
            else:
                atom, end, scene = self._next(book, atoms[-1], place, (last, day))
                ends.append(end)
                telling = self._changed(book, scene, atom, end)
            last = day
            atoms.append(atom)
            tellings.append(telling)
            tellings += [self._repeated(book, scene, atom, place) for _ in range(self.again[place])]
        self._questions(book, atoms, ends)
        return tellings

    def _kind(self, place: int) -> str:
        if place < len(self.values) - 1:
            return STALE
        return CURRENT if self.attribute.before else "fact"

    def _first(self, book: Book, value: str, day: date) -> tuple[Atom, Scene]:
        verb, name = self.attribute.verb, self.person.name
        slots = {
            "who": self.person.forms, "what": verb.forms, "value": (value,),
            "detail": (self.detail,),
        }  # fmt: skip
        text = f"{name} {verb.third} {value}, {self.detail}."
        atom = book.add(self._kind(0), slots, text, day, _SHARED)
        fills = {"value": value, "detail": self.detail}
        return atom, Scene(self.person, fills, (plain_role(atom),), verb)

    def _next(
        self, book: Book, before: Atom, place: int, days: tuple[date, date]
    ) -> tuple[Atom, Atom, Scene]:
        """The next value, which began between the day the last one was told and now."""
        last, day = days
        verb, name = self.attribute.verb, self.person.name
        old, new = self.values[place - 1], self.values[place]
        gap = (day - last).days
        since = spoken(shifted(day, book.dice, -min(20, max(0, gap - 1)), 0))
        slots = {
            "who": self.person.forms, "what": verb.forms, "value": (new,), "since": (since,),
        }  # fmt: skip
        atom = book.add(
            self._kind(place), slots, f"As of {since}, {name} {verb.third} {new}.", day, _SHARED
        )
        gone = {
            "who": self.person.forms, "what": verb.forms, "old": (old,), "ended": said.ENDED,
        }  # fmt: skip
        end = book.add(
            SUPERSESSION,
            gone,
            f"{name} no longer {verb.third} {old}.",
            day,
            ("who", "what", "ended"),
        )
        roles = (
            Role(atom, {"who": "who", "what": "what", "new": "value", "since": "since"}),
            Role(before, {"who": "who", "what": "what", "old": "value"}),
            plain_role(end),
        )
        return atom, end, Scene(self.person, {"old": old, "new": new, "since": since}, roles, verb)

    def _told(self, book: Book, scene: Scene, atom: Atom, templates: tuple[str, ...]) -> Telling:
        dice = book.dice
        stored = [("fact", one_of(dice, said.FACT, scene))]
        if dice.chance(SHORTER):
            stored.append(("fact", one_of(dice, said.FACT_SHORT, scene)))
        stored.append(("edge", one_of(dice, said.EDGE, scene)))
        return Telling.faithful(
            one_of(dice, templates, scene, True), tuple(stored), one_of(dice, said.BRIEF, scene),
            (atom.number,),
        )  # fmt: skip

    def _changed(self, book: Book, scene: Scene, atom: Atom, end: Atom) -> Telling:
        dice = book.dice
        templates = said.CHANGE_SILENT if dice.chance(SILENT) else said.CHANGE
        stored = (
            ("fact", one_of(dice, said.FACT_NOW, scene)),
            ("edge", one_of(dice, said.EDGE_NOW, scene)),
            ("compound_update", one_of(dice, said.COMPOUND, scene)),
            ("tombstone", one_of(dice, said.TOMBSTONE, scene)),
        )
        message, brief = one_of(dice, templates, scene, True), one_of(dice, said.BRIEF_NOW, scene)
        return Telling(message, stored, brief, (atom.number, end.number))

    def _repeated(self, book: Book, scene: Scene, atom: Atom, place: int) -> Telling:
        if place == 0:
            return self._told(book, scene, atom, said.TELL_AGAIN)
        dice = book.dice
        stored = (
            ("fact", one_of(dice, said.FACT_NOW, scene)),
            ("edge", one_of(dice, said.EDGE_NOW, scene)),
        )
        message: Piece = one_of(dice, said.CHANGE_AGAIN, scene, True)
        return Telling.faithful(
            message, stored, one_of(dice, said.BRIEF_NOW, scene), (atom.number,)
        )

    def _questions(self, book: Book, atoms: list[Atom], ends: list[Atom]) -> None:
        attribute, now = self.attribute, atoms[-1]
        scene = Scene(self.person, {}, (), attribute.verb)
        kind = "current_truth" if now.kind == CURRENT else "single_hop"
        book.ask(kind, attribute.ask, scene, self.values[-1], (now,), hop=True)
        for place, end in enumerate(ends):
            old = Scene(self.person, {"old": self.values[place]}, (), attribute.verb)
            if len(ends) > 1 or book.dice.chance(Fraction(3, 4)):
                book.ask("supersession", said.SUPERSEDED, old, self.values[-1], (end, now))
            else:
                book.ask("supersession", said.ENDED_WHICH, old, self.values[place], (end,))
        if len(atoms) > 1 and book.dice.chance(Fraction(1, 3)):
            book.ask("temporal", attribute.before, scene, self.values[0], (atoms[0],), ONCE)

"""From template to text, together with the slots that the text states.

A template is English with marks:
- {who} {whose} {whom} name the person ("I", "my", "me" when the speaker speaks about themselves);
- {they} and {their} are pronouns and state nothing;
- {does} {do} {did} {doing} {noun} are forms of the attribute's verb and state the slot `what`;
- {slot} is filled in, {slot=some words} are words that state the slot;
- [am|is] is a choice between first and third person.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memaudit.lab.sweeps.generators.event_graph.vocabulary import Verb


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in the stream. The speaker says I."""

    name: str
    they: str
    speaks: bool = False

    @property
    def their(self) -> str:
        return "her" if self.they == "she" else "his"

    @property
    def forms(self) -> tuple[str, ...]:
        """Every wording that identifies the person."""
        return (self.name, "I", "my", "me") if self.speaks else (self.name,)


@dataclass(frozen=True, slots=True)
class Atom:
    """One evidence unit: what has to be stated, slot by slot, to state all of it."""

    number: int
    kind: str
    slots: Mapping[str, tuple[str, ...]]
    """The wordings that state each slot, the canonical one first."""
    own: frozenset[str]
    """A text is about the atom only if it states one of these slots."""
    text: str
    day: date


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge of the graph, from one person to another."""

    source: Person
    label: str
    target: Person
    atom: int


_MARK = re.compile(r"\{(\w+)(?:=([^}]*))?\}|\[([^|\]]*)\|([^\]]*)\]")

Stated = tuple[int, str]
"""An atom's number and the name of one of its slots."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A text and the slots it states."""

    text: str
    stated: tuple[Stated, ...] = ()


@dataclass(frozen=True, slots=True)
class Role:
    """An atom in a scene: which mark states which of its slots."""

    atom: Atom
    marks: Mapping[str, str]


def own_role(atom: Atom) -> Role:
    """The role in which every mark states the slot of the same name."""
    return Role(atom, {name: name for name in atom.slots})


@dataclass(frozen=True, slots=True)
class Scene:
    """What a template is filled with."""

    person: Person | None
    fills: Mapping[str, str]
    roles: tuple[Role, ...]
    verb: Verb | None = None


def render(template: str, scene: Scene, first: bool = False) -> Piece:
    """The text in first or third person, and what it states."""
    first = first and scene.person is not None and scene.person.speaks
    words: list[str] = []
    marks: list[str] = []
    for mark, literal, first_person, third_person in _parsed(template):
        if not mark:
            words.append(first_person if first else third_person)
        elif literal:
            words.append(literal)
            marks.append(mark)
        else:
            text, states = _fill(mark, scene, first)
            words.append(text)
            marks.append(states)
    return Piece("".join(words), _stated(scene.roles, marks))


@lru_cache(maxsize=4096)
def _parsed(template: str) -> tuple[tuple[str, str, str, str], ...]:
    """Parts of a template: (mark, words that state it, first person, third person)."""
    parts, end = [], 0
    for match in _MARK.finditer(template):
        literal = template[end : match.start()]
        if literal:
            parts.append(("", "", literal, literal))
        mark, said, own, other = match.groups()
        parts.append((mark or "", said or "", own or "", other or ""))
        end = match.end()
    if template[end:]:
        parts.append(("", "", template[end:], template[end:]))
    return tuple(parts)


def _fill(mark: str, scene: Scene, first: bool) -> tuple[str, str]:
    """The words for a mark, and the mark they count as."""
    person, verb = scene.person, scene.verb
    if person is not None:
        if mark in ("who", "whose", "whom"):
            own = {"who": "I", "whose": "my", "whom": "me"}[mark]
            other = f"{person.name}'s" if mark == "whose" else person.name
            return (own if first else other), "who"
        if mark in ("they", "their"):
            own = {"they": "I", "their": "my"}[mark]
            return (own if first else getattr(person, mark)), ""
    if verb is not None and mark in ("does", "do", "did", "doing", "noun"):
        does = verb.first if first else verb.third
        forms = {"does": does, "do": verb.base, "did": verb.past, "doing": verb.ing}
        return forms.get(mark, verb.noun), "what"
    return scene.fills[mark], mark


def _stated(roles: tuple[Role, ...], marks: list[str]) -> tuple[Stated, ...]:
    """The slots that the marks state, of the atoms the text is about."""
    stated: list[Stated] = []
    for role in roles:
        # A dictionary as an ordered set: the same slots in another order would be another package.
        slots = {role.marks[mark]: None for mark in marks if mark in role.marks}
        # "She told me about it" states `who` of many atoms: a text is about an atom only if it
        # states a slot that is not shared with others.
        if any(slot in role.atom.own for slot in slots):
            stated += [(role.atom.number, slot) for slot in slots]
    return tuple(stated)

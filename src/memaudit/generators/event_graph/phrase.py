"""The hidden graph: people, the edges between them, and what is true as atoms with slots."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memaudit.generators.event_graph.words.attributes import Verb


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in the stream; the speaker says I."""

    name: str
    they: str
    speaks: bool = False

    @property
    def their(self) -> str:
        """Her or his."""
        return "her" if self.they == "she" else "his"

    @property
    def forms(self) -> tuple[str, ...]:
        """Every wording that says who is meant."""
        return (self.name, "I", "my", "me") if self.speaks else (self.name,)


@dataclass(frozen=True, slots=True)
class Atom:
    """One evidence unit: what has to be stated, slot by slot, to state all of it."""

    number: int
    kind: str
    slots: Mapping[str, tuple[str, ...]]
    """Per slot the wordings that state it; the first is the canonical one."""
    own: frozenset[str]
    """A text is about the atom only if it states one of these; the rest it shares with others."""
    text: str
    day: date


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge between two people."""

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


def plain_role(atom: Atom) -> Role:
    """Every mark states the slot of its own name."""
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
    for mark, said, own, other in _parsed(template):
        if not mark:
            words.append(own if first or own == other else other)
        elif said:
            words.append(said)
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
        slots = {role.marks[mark]: None for mark in marks if mark in role.marks}
        if any(slot in role.atom.own for slot in slots):
            stated += [(role.atom.number, slot) for slot in slots]
    return tuple(stated)

"""The hidden graph: people, the edges between them, and what is true as atoms with slots."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date


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

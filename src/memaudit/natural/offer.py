"""A candidate before its cost and coverage are known, and how its text came about."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Update:
    """A sentence of a later turn beside one of an earlier turn that it may replace."""

    earlier: str
    old: str
    later: str
    new: str


@dataclass(frozen=True, slots=True)
class Offer:
    """Something a writer could store.

    `whole` are the turns it holds word for word, `piece_of` the turn it is a verbatim piece of,
    `points` the turns its author names as its sources, `about` the session it speaks of.
    `judged` means that people's labels decide what it covers, and no rule does.
    """

    id: str
    experience: str
    kind: str
    text: str
    generator: str
    whole: tuple[str, ...] = ()
    piece_of: str | None = None
    points: tuple[str, ...] = ()
    about: str | None = None
    update: Update | None = None
    judged: bool = False
    confidence: Fraction | None = None
